import { bridge, FailedModelCall, TurnStoppedError, type HostFormat } from '@h/bridge';
import { createCredentialPool, failover, type CredentialPool } from '@h/failover';
import { noUsage, toErrorInfo, TurnError, type ErrorInfo, type Message, type ModelResponse } from '@h/turn';
import type { Answer } from '../formats/answer.js';
import type { Target } from './fallbacks.js';
import { parseJson } from '../wire/json-value.js';
import type { ProviderKey } from '../limits/keys.js';
import type { ProxyTelemetry } from '../telemetry.js';
import { Refusal, type Provider } from './refusal.js';
import type { FormatName } from './routes.js';

/** What an attempt is made with. */
export interface AttemptChoice {
  /** The model that replaces the requested one. */
  readonly target: Target | undefined;
  /** Replaces the credential of the client. */
  readonly key: ProviderKey | undefined;
}

/** A failed answer of a provider, as it was received. */
export class UpstreamFailure extends Error {
  readonly status: number;
  readonly statusMessage: string;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The format of the body. */
  readonly format: FormatName;

  constructor({ status, statusMessage, rawHeaders, body, format }: Omit<UpstreamFailure, keyof Error>) {
    super(`The provider answered with status ${status}.`);
    this.format = format;
    this.status = status;
    this.statusMessage = statusMessage;
    this.rawHeaders = rawHeaders;
    this.body = body;
  }
}

/** A model call that may be attempted several times. */
export interface AttemptedCall<Outcome extends { readonly answer?: Answer | undefined }> {
  readonly thread: string;
  readonly provider: Provider;
  readonly model: string | undefined;
  /** Models that may answer if this one fails. */
  readonly fallbacks: readonly Target[];
  readonly signal: AbortSignal;
  /** The header `traceparent` of the client. */
  readonly traceparent: unknown;
  /** Whether the client has received a part of the answer, so that no further attempt is possible. */
  hasStarted(): boolean;
  /** Called before each attempt but the first. */
  onRetry(): void;
  /**
   * Makes one attempt.
   *
   * @param holdsFailures - whether to throw an {@link UpstreamFailure} instead of forwarding a failed answer
   */
  attempt(choice: AttemptChoice, holdsFailures: boolean): Promise<Outcome>;
  /** Forwards the last failure to the client, with the choice of its attempt. */
  forward(failure: UpstreamFailure, choice: AttemptChoice): Promise<Outcome>;
}

/** Failed attempts switch to another key or model at once, because clients retry on their own. */
const retries = { maxRetries: 0, maxAttempts: 20, maxElapsedMs: 600_000, maxWaitMs: 0, maxStatedWaitMs: 0 };

/** Makes the attempts of model calls: with another key or another model after a failure, if there are any. */
export class Attempts {
  readonly #keys: readonly ProviderKey[];
  readonly #pool: CredentialPool | undefined;
  readonly #telemetry: ProxyTelemetry;

  constructor(keys: readonly ProviderKey[], telemetry: ProxyTelemetry, now: () => number) {
    this.#telemetry = telemetry;
    this.#keys = keys;
    this.#pool =
      keys.length === 0
        ? undefined
        : createCredentialPool({
            profiles: keys.map(({ provider, id, value }) => ({ id: `${provider}/${id}`, provider, key: value })),
            now,
          });
  }

  /** @throws Refusal if no attempt is possible */
  async run<Outcome extends { readonly answer?: Answer | undefined }>(call: AttemptedCall<Outcome>): Promise<Outcome> {
    const { provider, model, fallbacks } = call;
    const keys = this.#keys.filter((key) => key.provider === provider);
    if (this.#pool && keys.length === 0) {
      throw new Refusal('forbidden', `The proxy has no key of the provider ${provider}. Add one to ${provider}.keys.`);
    }
    const [only] = keys;
    const hasFailover = keys.length > 1 || fallbacks.length > 0;
    if (model === undefined || (!hasFailover && this.#telemetry.operators.length === 0)) {
      return call.attempt({ target: undefined, key: only }, false);
    }
    return this.#telemetry.within(call.traceparent, () =>
      this.#runTurn(call, model, hasFailover ? undefined : { only }),
    );
  }

  /** Makes the call as a turn of the operators. With `alone`, its only key is used, and no other attempt is made. */
  async #runTurn<Outcome extends { readonly answer?: Answer | undefined }>(
    call: AttemptedCall<Outcome>,
    model: string,
    alone: { readonly only: ProviderKey | undefined } | undefined,
  ): Promise<Outcome> {
    const { provider, signal, thread } = call;
    const requested = `${provider}/${model}`;
    const targets = new Map(call.fallbacks.map((target) => [`${target.provider}/${target.model}`, target]));
    targets.delete(requested);
    const switching = failover({
      ...(this.#pool && { pool: this.#pool }),
      models: [...targets.keys()],
      actions: { 'invalid-request': { fallBack: false }, 'empty-response': { retry: false } },
      ...retries,
    });
    let outcome: Outcome | undefined;
    let attempt: Promise<Outcome> | undefined;
    let failure: unknown;
    let choice: AttemptChoice = { target: undefined, key: undefined };
    let attempts = 0;
    try {
      await bridge([...(alone ? [] : [switching]), ...this.#telemetry.operators], { host: 'the proxy', format })
        .session(thread)
        .model({
          messages: [],
          model: requested,
          signal,
          canRestart: () => !call.hasStarted(),
          perform: async (request) => {
            attempts += 1;
            if (attempts > 1) call.onRetry();
            const target = targets.get(request.model ?? requested);
            const key = alone
              ? alone.only
              : this.#keys.find((known) => `${known.provider}/${known.id}` === request.credential);
            choice = { target, key };
            try {
              attempt = call.attempt(choice, true);
              outcome = await attempt;
            } catch (error) {
              failure = error;
              throw new FailedModelCall(error, describeFailure(error));
            }
            return { response: responseOf(outcome.answer), value: undefined };
          },
        });
    } catch (error) {
      // A client that leaves ends the turn first; the attempt still reports what it has used.
      outcome ??= await attempt?.catch(() => undefined);
      if (outcome) return outcome;
      if (signal.aborted) throw signal.reason;
      if (failure instanceof UpstreamFailure) return call.forward(failure, choice);
      if (failure instanceof Error) throw failure;
      throw unavailable(error) ?? error;
    }
    if (!outcome) throw new Refusal('internal', 'An operator of the proxy answered the call without the provider.');
    return outcome;
  }
}

/** The proxy passes no messages to the operators of an attempt. */
const format: HostFormat<Message> = { read: (message) => message, write: (message) => [message] };

const usefulHeaders = /^(?:retry-after(?:-ms)?|date|(?:anthropic-|x-)ratelimit-[a-z-]+|x-should-retry)$/i;

/** Returns the error of an attempt as operators read it. */
export const describeFailure = (error: unknown): ErrorInfo => {
  if (!(error instanceof UpstreamFailure)) return toErrorInfo(error);
  const { status, rawHeaders, body } = error;
  const headers: Record<string, string> = {};
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const [name = '', value = ''] = rawHeaders.slice(index, index + 2);
    if (usefulHeaders.test(name)) headers[name.toLowerCase()] = value;
  }
  const text = body.subarray(0, 16_384).toString('utf8');
  const parsed = parseJson(text);
  const message = (parsed as { readonly error?: { readonly message?: unknown } } | undefined)?.error?.message;
  return {
    name: 'UpstreamFailure',
    message: typeof message === 'string' ? message : text.slice(0, 2_000) || error.message,
    status,
    headers,
    ...(parsed !== undefined && { body: parsed as NonNullable<ErrorInfo['body']> }),
  };
};

/** The calls of an answer run in the client, after its turn. */
const responseOf = (answer: Answer | undefined): ModelResponse => {
  const content = answer?.content.filter(({ type }) => type !== 'tool-call') ?? [];
  return {
    content: content.length > 0 ? content : [{ type: 'text', text: ' ' }],
    finishReason: 'stop',
    usage: answer?.usage ?? noUsage,
    ...(answer?.model !== undefined && { model: answer.model }),
    ...(answer?.id !== undefined && { id: answer.id }),
  };
};

/** Returns the refusal of a call for which nothing could be asked: an operator ended it before its first attempt. */
const unavailable = (error: unknown): Refusal | undefined => {
  if (error instanceof TurnStoppedError) return new Refusal('unavailable', error.message);
  if (!(error instanceof TurnError) || error.code !== 'failover-exhausted') return undefined;
  // The message names options of the operator, which the proxy sets.
  const { body, cause } = error.cause as ErrorInfo;
  const { availableAt } = (body ?? {}) as { readonly availableAt?: number };
  const message = cause?.message ?? error.message;
  if (availableAt === undefined) return new Refusal('unavailable', message);
  return new Refusal('unavailable', message, { retryAfterMs: Math.max(0, availableAt - Date.now()) });
};
