import type { TurnEventOf } from './events.js';
import { ModelCall, type EffectHost } from './model-call.js';
import type { ModelDriver } from './model.js';
import { ToolBatch } from './tool-batch.js';
import type { ToolCall, ToolDriver } from './tool.js';

/** What a turn has started and not heard the end of: a model call, batches of tool calls. */
export class TurnEffects {
  readonly #model: ModelDriver;
  readonly #tools: ToolDriver | undefined;
  readonly #host: EffectHost;
  readonly #batches = new Set<ToolBatch>();
  readonly #onBatchEnd = (batch: ToolBatch): boolean => this.#batches.delete(batch);
  #modelCall: ModelCall | undefined;

  constructor(model: ModelDriver, tools: ToolDriver | undefined, host: EffectHost) {
    this.#model = model;
    this.#tools = tools;
    this.#host = host;
  }

  get areToolsRunning(): boolean {
    return this.#batches.size > 0;
  }

  callModel(request: TurnEventOf<'model.request'>): void {
    this.#modelCall = new ModelCall(this.#model, request, this.#host).start();
  }

  /** The model has answered: whatever its driver still does is not needed. */
  endModelCall(): void {
    this.#modelCall?.stop();
  }

  runTools(calls: readonly ToolCall[], step: number): void {
    if (calls.length === 0) return;
    this.#batches.add(new ToolBatch(this.#tools, calls, step, this.#host, this.#onBatchEnd).start());
  }

  /** New input has arrived: calls that have not begun are to be skipped. */
  skipTools(): void {
    for (const batch of this.#batches) batch.skip();
  }

  stop(): void {
    this.#modelCall?.stop();
    for (const batch of this.#batches) batch.stop();
    this.#batches.clear();
  }
}
