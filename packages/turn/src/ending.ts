import type { SchedulerLike } from 'rxjs';
import type { TurnEvent, TurnEventOf } from './events.js';
import type { LastWord } from './opening.js';
import { later } from './timers.js';

/** The last word about a turn, and how long its operators may take over the end. */
export class Ending {
  readonly #scheduler: SchedulerLike;
  readonly #graceMs: number;
  readonly #giveUp: (lastWord: LastWord) => void;
  #lastWord: TurnEventOf<'turn.stop'> | undefined;
  #stopGrace: (() => void) | undefined;
  #isOver = false;

  constructor(scheduler: SchedulerLike, graceMs: number, giveUp: (lastWord: LastWord) => void) {
    this.#scheduler = scheduler;
    this.#graceMs = graceMs;
    this.#giveUp = giveUp;
  }

  /** What was decided on. */
  get lastWord(): TurnEventOf<'turn.stop'> | undefined {
    return this.#lastWord;
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
    if (this.#isOver || this.#stopGrace) return;
    this.#stopGrace = later(this.#scheduler, this.#graceMs, () => this.#giveUp(this.#lastWord ?? heldBack));
  }

  /** The turn is over. */
  done(): void {
    this.#isOver = true;
    this.#stopGrace?.();
  }
}

const heldBack: LastWord = { outcome: 'error', reason: 'An operator held back the end of the turn.' };
