import { LazyAbort, startEffect, type Effect } from './effects.js';
import { toErrorInfo, type ErrorInfo } from './errors.js';
import type { NewEvent, TurnEvent, TurnEventOf } from './events.js';
import { ingestResponse } from './ingest.js';
import type { ModelDriver, ModelDriverOutput, ModelResponse } from './model.js';

/** What a model call needs to know of the turn it belongs to. */
export interface ModelCallHost {
  readonly turn: string;
  readonly session: string;
  /** Ids of tool calls that were used before in the session. */
  readonly usedIds: Set<string>;
  now(): number;
  feed(event: NewEvent): void;
  /** As `feed`, for an event that is complete. */
  enter(event: TurnEvent): void;
}

/** Calls the model and feeds what it says: deltas, then exactly one `model.response` or `model.error`. */
export const callModel = (driver: ModelDriver, request: TurnEventOf<'model.request'>, host: ModelCallHost): Effect => {
  const { step, attempt } = request;
  const abort = new LazyAbort();
  const fail = (error: ErrorInfo, more?: { readonly usage?: TurnEventOf<'model.error'>['usage'] }): void =>
    host.feed({ type: 'model.error', step, attempt, error, ...(more?.usage && { usage: more.usage }) });
  let answered = false;
  const handle = (output: ModelDriverOutput): void => {
    if (answered) return;
    if (output.type === 'delta') {
      host.enter({ type: 'model.delta', turn: host.turn, at: host.now(), step, attempt, delta: output.delta });
      return;
    }
    answered = true;
    if (output.type === 'error') {
      fail(output.error, { usage: output.usage });
      return;
    }
    let response: ModelResponse;
    try {
      response = ingestResponse(output.response, host.usedIds);
    } catch (error) {
      fail(toErrorInfo(error));
      return;
    }
    host.enter({ type: 'model.response', turn: host.turn, at: host.now(), step, attempt, ...response });
  };
  return startEffect(
    () =>
      driver(request, {
        turn: host.turn,
        session: host.session,
        step,
        attempt,
        get signal() {
          return abort.signal;
        },
      }),
    {
      next: handle,
      done: (error) => {
        if (answered) return;
        answered = true;
        fail(error === undefined ? incompleteStream : toErrorInfo(error));
      },
    },
    () => abort.abort(),
  );
};

const incompleteStream: ErrorInfo = {
  name: 'IncompleteStreamError',
  code: 'incomplete-stream',
  message: 'The model driver ended without a response.',
};
