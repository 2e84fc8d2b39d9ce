import type { SchedulerLike, Subscription } from 'rxjs';
import type { TurnEventOf } from './events.js';
import type { LastWord } from './opening.js';

/** The last word about a turn, and how long its operators may take over the end. */
export class Ending {
  readonly #scheduler: SchedulerLike;
  readonly #graceMs: number;
  readonly #giveUp: (lastWord: LastWord) => void;
  #lastWord: TurnEventOf<'turn.stop'> | undefined;
  #grace: Subscription | undefined;
  #isOver = false;

  constructor(scheduler: SchedulerLike, graceMs: number, giveUp: (lastWord: LastWord) => void) {
    this.#scheduler = scheduler;
    this.#graceMs = graceMs;
    this.#giveUp = giveUp;
  }

  /** The stop that no operator can turn down: a caller's, the cap's, or that of a turn that is broken. */
  get lastWord(): TurnEventOf<'turn.stop'> | undefined {
    return this.#lastWord;
  }

  decide(lastWord: TurnEventOf<'turn.stop'>): void {
    this.#lastWord = lastWord;
    this.limit();
  }

  /** From now on operators have so long to let go what they hold. */
  limit(): void {
    if (this.#isOver || this.#grace) return;
    this.#grace = this.#scheduler.schedule(() => this.#giveUp(this.#lastWord ?? heldBack), this.#graceMs);
  }

  /** The turn is over. */
  done(): void {
    this.#isOver = true;
    this.#grace?.unsubscribe();
  }
}

const heldBack: LastWord = { outcome: 'error', reason: 'An operator held back the end of the turn.' };
