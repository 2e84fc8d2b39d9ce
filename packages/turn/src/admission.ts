import type { CallIds } from './call-ids.js';
import type { Ending } from './ending.js';
import type { TurnEvent, TurnEventOf } from './events.js';
import type { LoopState } from './loop-state.js';

/** What becomes of an event that has left the pipeline, before it counts. */
export class Admission {
  readonly #ending: Ending;
  readonly #callIds: () => CallIds;
  #early: TurnEventOf<'model.request'> | undefined;

  constructor(ending: Ending, callIds: () => CallIds) {
    this.#ending = ending;
    this.#callIds = callIds;
  }

  /** The event as it counts; nothing while it has to wait for another one. */
  admit(event: TurnEvent, state: LoopState): TurnEvent | undefined {
    if (event.replayed === true) return event;
    if (event.type === 'model.response') return this.#callIds().ownedBy(event);
    if (event.type !== 'model.request' || !state.asked || event.attempt <= state.attempt) {
      return this.#ending.insteadOf(event);
    }
    this.#early = event;
    return undefined;
  }

  /**
   * The next attempt of a call, once the one before it is answered.
   *
   * An operator asks again right behind the error, but one after it may hold the error back.
   */
  due(state: LoopState): TurnEvent | undefined {
    if (!this.#early || state.asked) return undefined;
    const due = this.#early;
    this.#early = undefined;
    return due;
  }
}
