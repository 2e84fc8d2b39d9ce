import type { SchedulerLike, Subscription } from 'rxjs';
import type { TurnEvent, TurnEventOf } from './events.js';
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

  /** Decides on a stop that no operator can turn down: a caller's, the cap's, or that of a turn that is broken. */
  decide(lastWord: TurnEventOf<'turn.stop'>): void {
    this.#lastWord = lastWord;
    this.limit();
  }

  /** What happens when this event leaves: once it is decided that the turn stops, it does not go on. */
  insteadOf(event: TurnEvent): TurnEvent {
    return event.type === 'turn.continue' && this.#lastWord ? this.#lastWord : event;
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
