import type { ObservableInput } from 'rxjs';
import { Effect, EffectContext, type EffectHost } from './effects.js';
import { LazyAbort } from '../lazy-abort.js';
import type { ErrorInfo } from '../contract/error-info.js';
import { InvalidInputError, toErrorInfo } from '../contract/errors.js';
import { ingestOutcome } from '../loop/ingest.js';
import type { ToolCall, ToolDriver, ToolDriverOutput, ToolOutcome, ToolRunContext } from '../contract/tool.js';

/** Runs the calls of one step together: feeds progress, and exactly one `tool.result` for each call. */
export class ToolBatch extends Effect<ToolDriverOutput> {
  readonly #driver: ToolDriver | undefined;
  readonly #calls: readonly ToolCall[];
  /** The calls without a result. */
  readonly #open: ToolCall[];
  readonly #step: number;
  readonly #host: EffectHost;
  readonly #onEnd: (batch: ToolBatch) => void;
  #skip: LazyAbort | undefined;

  constructor(
    driver: ToolDriver | undefined,
    calls: readonly ToolCall[],
    step: number,
    host: EffectHost,
    onEnd: (batch: ToolBatch) => void,
  ) {
    super();
    this.#driver = driver;
    this.#calls = calls;
    this.#open = [...calls];
    this.#step = step;
    this.#host = host;
    this.#onEnd = onEnd;
  }

  /** Signals the tool driver to skip the calls that have not begun, because new input has arrived. */
  skip(): void {
    this.skipping.abort();
  }

  /** Whether a call has no result yet. */
  get isWaiting(): boolean {
    return this.#open.length > 0;
  }

  get skipping(): LazyAbort {
    this.#skip ??= new LazyAbort();
    return this.#skip;
  }

  protected override open(): ObservableInput<ToolDriverOutput> {
    if (this.#driver) return this.#driver.run(this.#calls, new BatchContext(this.#host, this, this.#step));
    return this.#calls.map(({ id, name }) => ({ type: 'result', id, outcome: unknownTool(name) }));
  }

  protected override take(output: ToolDriverOutput): void {
    if (output.type !== 'result' && output.type !== 'progress') {
      throw new InvalidInputError(
        `The tool driver emitted an output of type ${JSON.stringify((output as { type?: unknown }).type)}. Valid types are progress and result.`,
      );
    }
    const call = this.#open.find(({ id }) => id === output.id);
    if (!call) return;
    if (output.type === 'result') {
      this.#answer(call, outcomeOf(output.outcome, call.name));
      return;
    }
    const { turn } = this.#host;
    this.#host.enter({
      type: 'tool.progress',
      turn,
      at: this.#host.now(),
      step: this.#step,
      call,
      progress: output.progress,
    });
  }

  protected override ended(error?: unknown): void {
    const outcome = failed(error === undefined ? unanswered : toErrorInfo(error));
    for (let call = this.#open[0]; call; call = this.#open[0]) this.#answer(call, outcome);
    this.#onEnd(this);
  }

  #answer(call: ToolCall, outcome: ToolOutcome): void {
    const { turn } = this.#host;
    this.#open.splice(this.#open.indexOf(call), 1);
    this.#host.enter({ type: 'tool.result', turn, at: this.#host.now(), step: this.#step, call, ...outcome });
  }
}

class BatchContext extends EffectContext implements ToolRunContext {
  readonly #batch: ToolBatch;

  constructor(host: EffectHost, batch: ToolBatch, step: number) {
    super(host, batch, step);
    this.#batch = batch;
  }

  get skipSignal(): AbortSignal {
    return this.#batch.skipping.signal;
  }
}

const outcomeOf = (outcome: ToolOutcome, name: string): ToolOutcome => {
  try {
    return ingestOutcome(outcome, name);
  } catch (error) {
    return failed(toErrorInfo(error));
  }
};

const failed = (error: ErrorInfo): ToolOutcome => ({
  status: 'failed',
  error,
  output: { type: 'error-text', value: error.message },
});

const unanswered: ErrorInfo = {
  name: 'UnansweredCallError',
  code: 'unanswered-call',
  message: 'The tool driver completed without a result for this call.',
};

const unknownTool = (name: string): ToolOutcome => ({
  status: 'unknown-tool',
  output: { type: 'error-text', value: `No tool is named ${JSON.stringify(name)}; this agent has no tools.` },
});
