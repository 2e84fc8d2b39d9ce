import { showValue } from '@h/options';
import type { ObservableInput } from 'rxjs';
import type { CallIds } from '../transcript/call-ids.js';
import { checked } from '../checks/data-checks.js';
import { Effect } from './effects.js';
import type { ErrorInfo } from '../contract/error-info.js';
import { InvalidInputError, toErrorInfo } from '../contract/errors.js';
import { driverError } from '../checks/event-checks.js';
import type { TurnEvent, TurnEventOf } from '../contract/events.js';
import { ingestResponse } from '../loop/ingest.js';
import type { ModelCallContext, ModelDriver, ModelDriverOutput, ModelResponse } from '../contract/model.js';
import type { Usage } from '../contract/usage.js';

/** The turn, as a driver call sees it. */
export interface EffectHost {
  readonly turn: string;
  readonly session: string;
  readonly callIds: CallIds;
  /** When the turn must have ended, in milliseconds since 1970. */
  readonly deadlineAt: number | undefined;
  now(): number;
  /** Sends an event into the pipeline. */
  enter(event: TurnEvent): void;
}

/** Runs a model call: feeds its deltas, then exactly one `model.response` or `model.error`. */
export class ModelCall extends Effect<ModelDriverOutput> {
  readonly #driver: ModelDriver;
  readonly #request: TurnEventOf<'model.request'>;
  readonly #host: EffectHost;
  #isAnswered = false;

  constructor(driver: ModelDriver, request: TurnEventOf<'model.request'>, host: EffectHost) {
    super();
    this.#driver = driver;
    this.#request = request;
    this.#host = host;
  }

  protected override open(): ObservableInput<ModelDriverOutput> {
    return this.#driver(this.#request, new CallContext(this, this.#host, this.#request));
  }

  protected override take(output: ModelDriverOutput): void {
    if (this.#isAnswered) return;
    if (output.type === 'delta') {
      const { turn } = this.#host;
      const { step, attempt } = this.#request;
      this.#host.enter({ type: 'model.delta', turn, at: this.#host.now(), step, attempt, delta: output.delta });
      return;
    }
    if (output.type !== 'error' && output.type !== 'response') {
      throw new InvalidInputError(
        `The model driver emitted an output of type ${showValue((output as { type?: unknown }).type)}. It emits { type: "delta", delta }, { type: "response", response } and { type: "error", error }.`,
      );
    }
    this.#isAnswered = true;
    if (output.type === 'error') this.#failWith(output);
    else this.#answer(output.response);
  }

  protected override ended(error?: unknown): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#fail(error === undefined ? incompleteStream : toErrorInfo(error));
  }

  #answer(given: ModelResponse): void {
    const { turn } = this.#host;
    const { step, attempt } = this.#request;
    let response: ModelResponse;
    try {
      response = ingestResponse(given, this.#host.callIds);
    } catch (error) {
      this.#fail(toErrorInfo(error));
      return;
    }
    this.#host.enter({ type: 'model.response', turn, at: this.#host.now(), step, attempt, ...response });
  }

  #failWith(output: Extract<ModelDriverOutput, { type: 'error' }>): void {
    try {
      checked(driverError, output, 'The model driver', 'output');
    } catch (error) {
      this.#fail(toErrorInfo(error));
      return;
    }
    this.#fail(output.error, output.usage);
  }

  #fail(error: ErrorInfo, usage?: Usage): void {
    const { turn } = this.#host;
    const { step, attempt } = this.#request;
    this.#host.enter({ type: 'model.error', turn, at: this.#host.now(), step, attempt, error, usage });
  }
}

class CallContext implements ModelCallContext {
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  readonly attempt: number;
  readonly #call: ModelCall;
  readonly #host: EffectHost;

  constructor(call: ModelCall, host: EffectHost, { step, attempt }: TurnEventOf<'model.request'>) {
    this.turn = host.turn;
    this.session = host.session;
    this.step = step;
    this.attempt = attempt;
    this.#call = call;
    this.#host = host;
  }

  get deadlineAt(): number | undefined {
    return this.#host.deadlineAt;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}

const incompleteStream: ErrorInfo = {
  name: 'IncompleteStreamError',
  code: 'incomplete-stream',
  message: 'The model driver completed without a response.',
};
