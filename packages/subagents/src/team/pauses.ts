import { deferred, type Deferred } from '../child/deferred.js';
import type { ChildLanes } from '../lanes.js';
import type { ParentTurn } from './parent-turn.js';
import type { RunPlace } from '../child/run-place.js';

interface Pause {
  waits: number;
  readonly isOver: Deferred<void>;
  readonly resumed: Promise<void>;
}

/** The waiting calls. */
export interface Waiter {
  readonly session: string;
  readonly turn: ParentTurn | undefined;
  readonly place: RunPlace | undefined;
}

/** Releases the resources of an agent while it waits for its sub-agents: once for any number of concurrent waits. */
export class Pauses {
  readonly #lanes: ChildLanes;
  readonly #open = new Map<string, Pause>();

  constructor(lanes: ChildLanes) {
    this.#lanes = lanes;
  }

  /** Number of waiting agents. */
  get size(): number {
    return this.#open.size;
  }

  /** Runs a wait without a slot. The last wait of an agent resolves after the agent has its slot again. */
  async during<Result>({ session, turn, place }: Waiter, wait: () => Promise<Result>): Promise<Result> {
    const pause = this.#open.get(session) ?? this.#begin(session, turn, place);
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

  #begin(session: string, turn: ParentTurn | undefined, place: RunPlace | undefined): Pause {
    const isOver = deferred<void>();
    place?.pause();
    const resumed = this.#resume(isOver.promise, turn, place);
    // The last waiter receives the error.
    resumed.catch(() => undefined);
    const pause = { waits: 0, isOver, resumed };
    this.#open.set(session, pause);
    return pause;
  }

  /**
   * Acquires the slot of the sub-agent first, then that of its lane: the same order for all agents, to avoid deadlocks.
   */
  async #resume(isOver: Promise<void>, turn: ParentTurn | undefined, place: RunPlace | undefined): Promise<void> {
    const work = async (): Promise<void> => {
      await isOver;
      await place?.goOn();
    };
    if (place?.lease) await place.lease.yieldWhile(work);
    else if (turn) await turn.inContext(() => this.#lanes.yieldWhile(work));
    else await this.#lanes.yieldWhile(work);
  }
}
