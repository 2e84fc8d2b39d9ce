import {
  addUsage,
  MessageList,
  noUsage,
  TurnError,
  type ErrorInfo,
  type ModelDriverOutput,
  type NewEvent,
  type PipelineOperator,
  type TurnEvent,
  type TurnEventOf,
  type TurnOutcome,
  type Usage,
} from '@h/turn';
import { connect, type Connection } from '@h/turn/bridge';
import type { HostRequest } from './host-request.js';
import { TurnStoppedError } from './turn-stopped-error.js';

/**
 * The maximum number of model calls within one call of the host: a backstop against operators that retry without end,
 * far above what any of them does by design.
 */
const maxAttempts = 100;

/** How the call of a host ended. */
export type Conclusion =
  | { readonly type: 'response'; readonly event: TurnEventOf<'model.response'> }
  | { readonly type: 'error'; readonly error: ErrorInfo }
  /** The turn was stopped, or an operator failed. */
  | { readonly type: 'failed'; readonly error: unknown }
  | { readonly type: 'cancelled'; readonly error: unknown };

/** The host of a turn. */
export interface HostCall {
  readonly host: HostRequest;
  /** The host's own signal. */
  readonly signal: AbortSignal | undefined;
  /** Calls the model once: emits deltas, then one response or error. Never rejects. */
  perform(
    request: TurnEventOf<'model.request'>,
    say: (output: ModelDriverOutput) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** A delta has left the operators. */
  onDelta(event: TurnEventOf<'model.delta'>): void;
  /** Whether the model may be called again: nothing has been emitted that cannot be retracted. */
  mayAskAgain(): boolean;
  /** Called once, at the end. */
  conclude(conclusion: Conclusion): void;
}

/**
 * Runs operators around one call of a host, which is one turn to them: `turn.start`, `session.loaded`, the request,
 * its outcome,
 * `turn.end`. Other commands of operators are ignored.
 */
export class HostTurn {
  readonly #call: HostCall;
  readonly #session: string;
  readonly #connection: Connection;
  readonly #onAbort = (): void => this.cancel(this.#call.signal?.reason);
  #attempt: AbortController | undefined;
  #attempts = 0;
  #usage: Usage = noUsage;
  /** The latest error that an operator retried. */
  #retried: ErrorInfo | undefined;
  /** The history, if an operator has replaced it. */
  #messages: MessageList | undefined;
  #started = false;
  #ended = false;
  #broken: { readonly error: unknown } | undefined;

  constructor(operators: readonly PipelineOperator[], call: HostCall) {
    // oxlint-disable-next-line h/no-clock -- the host has no turn ids; this one must be unique and nothing else depends on it
    const turn = crypto.randomUUID();
    this.#call = call;
    this.#session = call.host.session ?? turn;
    this.#connection = connect(operators, {
      turn,
      onEvent: (event) => this.#take(event),
      onError: (error) => this.#break(error),
    });
  }

  /** Starts the turn. */
  start(): void {
    const { signal, host } = this.#call;
    this.#started = true;
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    if (signal?.aborted) this.#onAbort();
    else if (this.#broken) this.#break(this.#broken.error);
    else this.#feed({ type: 'turn.start', session: this.#session, input: host.input, trigger: 'user' });
  }

  /** The host cancelled the call. */
  cancel(reason: unknown): void {
    this.#end('cancelled', { type: 'cancelled', error: reason });
  }

  #take(event: TurnEvent): void {
    if (this.#ended) {
      if (event.type === 'turn.end') this.#connection.close();
      return;
    }
    switch (event.type) {
      case 'turn.start':
        return this.#feed({
          type: 'session.loaded',
          session: this.#session,
          messages: this.#call.host.before,
          state: {},
          repairs: [],
        });
      case 'session.loaded':
        return this.#request(1);
      case 'history.replace':
        this.#messages = MessageList.of(event.messages);
        return undefined;
      case 'model.request':
        return this.#ask(event);
      case 'model.delta':
        return this.#call.onDelta(event);
      case 'model.response':
        return this.#end('completed', { type: 'response', event });
      case 'model.error':
        if (event.retrying !== true) return this.#end('error', { type: 'error', error: event.error });
        this.#retried = event.error;
        return this.#request(event.attempt + 1);
      case 'turn.stop':
        return this.#end(event.outcome, { type: 'failed', error: new TurnStoppedError(event) }, event.reason);
      default:
    }
  }

  /** Feeds the host's request, with the history that the operators left. */
  #request(attempt: number): void {
    const { request } = this.#call.host;
    this.#feed({ type: 'model.request', step: 1, attempt, ...request, messages: this.#messages ?? request.messages });
  }

  #ask(request: TurnEventOf<'model.request'>): void {
    if (this.#attempts >= maxAttempts) {
      return this.#end('max-steps', { type: 'failed', error: askedTooOften(this.#attempts) });
    }
    if (this.#attempts > 0 && !this.#call.mayAskAgain()) return this.#end('error', this.#tooLate());
    this.#attempts += 1;
    this.#attempt?.abort();
    const attempt = new AbortController();
    this.#attempt = attempt;
    const say = (output: ModelDriverOutput): void => {
      if (this.#attempt === attempt && !this.#ended) this.#hear(output, request);
    };
    queueMicrotask(() => {
      if (!attempt.signal.aborted) void this.#call.perform(request, say, attempt.signal);
    });
  }

  /** The error that was to be retried. */
  #tooLate(): Conclusion {
    return this.#retried ? { type: 'error', error: this.#retried } : { type: 'failed', error: answerShown() };
  }

  #hear(output: ModelDriverOutput, { step, attempt }: TurnEventOf<'model.request'>): void {
    switch (output.type) {
      case 'delta':
        return this.#feed({ type: 'model.delta', step, attempt, delta: output.delta });
      case 'response':
        this.#usage = addUsage(this.#usage, output.response.usage);
        return this.#feed({ type: 'model.response', step, attempt, ...output.response });
      case 'error': {
        const { error, usage } = output;
        if (usage) this.#usage = addUsage(this.#usage, usage);
        return this.#feed({ type: 'model.error', step, attempt, error, ...(usage && { usage }) });
      }
    }
  }

  #end(outcome: TurnOutcome, conclusion: Conclusion, reason?: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#attempt?.abort();
    this.#call.signal?.removeEventListener('abort', this.#onAbort);
    const steps = Math.min(this.#attempts, 1);
    this.#feed({ type: 'turn.end', outcome, ...(reason !== undefined && { reason }), steps, usage: this.#usage });
    try {
      this.#call.conclude(conclusion);
    } catch (error) {
      this.#call.conclude({ type: 'failed', error });
    }
  }

  /** Ends the turn after an operator failed: the others observe the end if it reaches them; nothing is awaited. */
  #break(error: unknown): void {
    this.#broken = { error };
    if (!this.#started) return;
    this.#end('error', { type: 'failed', error });
    this.#connection.close();
  }

  #feed(event: NewEvent): void {
    this.#connection.feed(event);
  }
}

const answerShown = (): TurnError =>
  new TurnError(
    'answer-shown',
    'An operator asked the model again after part of its answer had been handed to the host, which cannot be taken back.',
  );

const askedTooOften = (attempts: number): TurnStoppedError =>
  new TurnStoppedError({
    outcome: 'max-steps',
    reason: `The model was called ${attempts} times for one answer. Limit the retries of the operators.`,
  });
