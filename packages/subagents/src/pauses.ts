import { deferred, type Deferred } from './deferred.js';
import type { ChildLanes } from './lanes.js';
import type { RunPlace } from './run-place.js';

interface Pause {
  waits: number;
  readonly isOver: Deferred<void>;
  readonly resumed: Promise<void>;
}

/** Frees what an agent occupies while it waits for its sub-agents, once, however many waits it has at a time. */
export class Pauses {
  readonly #lanes: ChildLanes;
  readonly #open = new Map<string, Pause>();

  constructor(lanes: ChildLanes) {
    this.#lanes = lanes;
  }

  /** Waits without a place; the last wait of an agent answers once the agent has its place again. */
  async during<Result>(session: string, place: RunPlace | undefined, wait: () => Promise<Result>): Promise<Result> {
    const pause = this.#open.get(session) ?? this.#begin(session, place);
    pause.waits += 1;
    try {
      return await wait();
    } finally {
      pause.waits -= 1;
      if (pause.waits === 0) {
        this.#open.delete(session);
        pause.isOver.resolve();
        await pause.resumed;
      }
    }
  }

  #begin(session: string, place: RunPlace | undefined): Pause {
    const isOver = deferred<void>();
    place?.pause();
    const resumed = this.#resume(isOver.promise, place);
    // Whoever waits last hears of it.
    resumed.catch(() => undefined);
    const pause = { waits: 0, isOver, resumed };
    this.#open.set(session, pause);
    return pause;
  }

  /** The place among the sub-agents first, then the slot: the order in which both were taken, so that nobody waits in a ring. */
  async #resume(isOver: Promise<void>, place: RunPlace | undefined): Promise<void> {
    await (place?.lease ?? this.#lanes).yieldWhile(async () => {
      await isOver;
      await place?.goOn();
    });
  }
}
