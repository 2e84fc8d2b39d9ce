import { showValue } from '@h/options';
import type { ObservableInput } from 'rxjs';
import { checked } from '../checks/data-checks.js';
import { Effect, EffectContext, type EffectHost } from './effects.js';
import type { ErrorInfo } from '../contract/error-info.js';
import { InvalidInputError, toErrorInfo } from '../contract/errors.js';
import { driverError } from '../checks/event-checks.js';
import type { TurnEventOf } from '../contract/events.js';
import { ingestResponse } from '../loop/ingest.js';
import type { ModelCallContext, ModelDriver, ModelDriverOutput } from '../contract/model.js';
import type { Usage } from '../contract/usage.js';

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
    return this.#driver(this.#request, new CallContext(this.#host, this, this.#request));
  }

  /** An answer that is invalid ends the call as a failure. */
  protected override take(output: ModelDriverOutput): void {
    if (this.#isAnswered) return;
    const { turn } = this.#host;
    const { step, attempt } = this.#request;
    const at = this.#host.now();
    if (output.type === 'delta') {
      this.#host.enter({ type: 'model.delta', turn, at, step, attempt, delta: output.delta });
    } else if (output.type === 'response') {
      const response = ingestResponse(output.response, this.#host.callIds);
      this.#isAnswered = true;
      this.#host.enter({ type: 'model.response', turn, at, step, attempt, ...response });
    } else if (output.type === 'error') {
      checked(driverError, output, 'The model driver', 'output');
      this.#fail(output.error, output.usage);
    } else {
      throw new InvalidInputError(
        `The model driver emitted an output of type ${showValue((output as { type?: unknown }).type)}. It emits { type: "delta", delta }, { type: "response", response } and { type: "error", error }.`,
      );
    }
  }

  protected override ended(error?: unknown): void {
    if (!this.#isAnswered) this.#fail(error === undefined ? incompleteStream : toErrorInfo(error));
  }

  #fail(error: ErrorInfo, usage?: Usage): void {
    const { turn } = this.#host;
    const { step, attempt } = this.#request;
    this.#isAnswered = true;
    this.#host.enter({ type: 'model.error', turn, at: this.#host.now(), step, attempt, error, usage });
  }
}

class CallContext extends EffectContext implements ModelCallContext {
  readonly attempt: number;

  constructor(host: EffectHost, call: ModelCall, { step, attempt }: TurnEventOf<'model.request'>) {
    super(host, call, step);
    this.attempt = attempt;
  }
}

const incompleteStream: ErrorInfo = {
  name: 'IncompleteStreamError',
  code: 'incomplete-stream',
  message: 'The model driver completed without a response.',
};
