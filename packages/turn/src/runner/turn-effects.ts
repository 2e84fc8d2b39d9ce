import type { TurnEvent } from '../contract/events.js';
import { isRepeatable, runnable, type CallSlot } from '../loop/call-slots.js';
import type { LoopState } from '../loop/loop-state.js';
import type { EffectHost } from './effects.js';
import { ModelCall } from './model-call.js';
import type { ModelDriver } from '../contract/model.js';
import type { Outbox } from './outbox.js';
import { ToolBatch } from './tool-batch.js';
import type { ToolDriver } from '../contract/tool.js';

/** The work that a turn has started and that has not ended: a model call and batches of tool calls. */
export class TurnEffects {
  readonly #model: ModelDriver;
  readonly #tools: ToolDriver | undefined;
  readonly #host: EffectHost;
  readonly #batches = new Set<ToolBatch>();
  readonly #onBatchEnd = (batch: ToolBatch): boolean => this.#batches.delete(batch);
  #modelCall: ModelCall | undefined;
  /** The latest step whose calls were handed to the tool driver. */
  #ranStep = 0;

  constructor(model: ModelDriver, tools: ToolDriver | undefined, host: EffectHost) {
    this.#model = model;
    this.#tools = tools;
    this.#host = host;
  }

  get areToolsRunning(): boolean {
    for (const batch of this.#batches) if (batch.isWaiting) return true;
    return false;
  }

  /** Starts, skips or stops the work that the event is about. A driver's output after its answer is ignored. */
  perform(event: TurnEvent): void {
    switch (event.type) {
      case 'model.request':
        this.#modelCall = new ModelCall(this.#model, event, this.#host).start();
        break;
      case 'model.response':
      case 'model.error':
        this.#modelCall?.stop();
        break;
      case 'input.received':
        this.#skip();
        break;
      case 'turn.stop':
        this.stop();
        break;
      default:
    }
  }

  /**
   * Hands the calls of a step to the tool driver together, once all of them are decided. If one of them must not run
   * twice, they wait until every earlier record is stored.
   */
  runDecided(state: LoopState, outbox: Pick<Outbox, 'whenStored'>): void {
    const { slots, step } = state;
    if (this.#ranStep !== step && slots.size > 0 && slots.areDecided) this.#runStep(state, step, outbox);
  }

  #runStep(state: LoopState, step: number, outbox: Pick<Outbox, 'whenStored'>): void {
    const ready = runnable(state);
    const run = (): void => {
      if (state.stop || state.end || state.step !== step) return;
      this.#runTools(ready, step);
      if (state.received.length > 0) this.#skip();
    };
    this.#ranStep = step;
    if (ready.every(isRepeatable)) run();
    else outbox.whenStored(run);
  }

  /** Runs the interrupted calls of a resumed turn that may run twice; none if the turn is stopping. */
  rerun(state: LoopState): void {
    this.#runTools(state.stop ? [] : runnable(state).filter(isRepeatable), state.step);
  }

  #runTools(slots: readonly CallSlot[], step: number): void {
    this.#ranStep = step;
    if (slots.length === 0) return;
    const calls = slots.map(({ call }) => call);
    this.#batches.add(new ToolBatch(this.#tools, calls, step, this.#host, this.#onBatchEnd).start());
  }

  #skip(): void {
    for (const batch of this.#batches) batch.skip();
  }

  stop(): void {
    this.#modelCall?.stop();
    for (const batch of this.#batches) batch.stop();
    this.#batches.clear();
  }
}
