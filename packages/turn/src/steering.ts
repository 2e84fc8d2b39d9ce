import type { TurnEventOf } from './events.js';
import type { UserMessage } from './messages.js';

/** The messages that were given to a running turn, by id. Until one has come through the pipeline, the turn owes it. */
export class Steering {
  /** `undefined` once the message has come through. */
  readonly #messages = new Map<string, UserMessage | undefined>();

  /** Takes in a message, once. @returns whether it is new */
  add(id: string, message: UserMessage): boolean {
    if (this.#messages.has(id)) return false;
    this.#messages.set(id, message);
    return true;
  }

  /** The message has come through, and is part of the state from now on. */
  hasLeft(id: string): void {
    this.#messages.set(id, undefined);
  }

  /** The end of a turn, with what has not come through among what was not delivered. */
  addTo(end: TurnEventOf<'turn.end'>): TurnEventOf<'turn.end'> {
    const undelivered = [...this.#messages.values()].filter((message) => message !== undefined);
    return undelivered.length === 0 ? end : { ...end, undelivered: [...(end.undelivered ?? []), ...undelivered] };
  }
}
