import type { ErrorInfo, ModelDelta, ModelDriverOutput, ModelRequest } from '@h/turn';
import { Observable } from 'rxjs';
import { FailedModelCall } from './errors.js';
import type { HostHistory } from './host-history.js';
import type { OpenCall } from './open-call.js';

interface PerformOptions<HostMessage> {
  readonly history: HostHistory<HostMessage>;
  readonly describeError: (thrown: unknown) => ErrorInfo;
  readonly signal: AbortSignal;
}

/** Makes the host's model call with a request that left the operators. A rejection is an error of the model. */
export const performCall = <HostMessage>(
  open: OpenCall<HostMessage>,
  { messages, tail, ...rest }: ModelRequest,
  { history, describeError, signal }: PerformOptions<HostMessage>,
): Observable<ModelDriverOutput> =>
  new Observable((subscriber) => {
    const fail = (thrown: unknown): void => {
      if (subscriber.closed) return;
      const { thrown: error, info, usage } = thrown instanceof FailedModelCall ? thrown : described(thrown);
      open.thrown.set(info, { error });
      open.lastThrown = { error };
      open.failure = info;
      subscriber.next({ type: 'error', error: info, ...(usage && { usage }) });
      subscriber.complete();
    };
    const described = (thrown: unknown): FailedModelCall => new FailedModelCall(thrown, describeError(thrown));
    const context = {
      signal,
      onDelta: (delta: ModelDelta): void => subscriber.next({ type: 'delta', delta }),
    };
    const rendered = history.renderHistory(messages);
    const request = { ...rest, messages: [...rendered, ...history.render(tail)], historyLength: rendered.length };
    void Promise.resolve()
      .then(() => open.call.perform(request, context))
      .then(({ response, value }) => {
        open.failure = undefined;
        open.performed = response;
        open.returned = { value };
        subscriber.next({ type: 'response', response });
        subscriber.complete();
      })
      .catch(fail);
  });
