import type { TurnEventOf } from '../contract/events.js';
import type { UserMessage } from '../contract/messages.js';

/** The messages sent to a running turn, by id, until they are committed. */
export class Steering {
  /** `undefined` once the message is committed. */
  #messages: Map<string, UserMessage | undefined> | undefined;

  /** Adds a message. @returns `false` if its id is already known */
  add(id: string, message: UserMessage): boolean {
    if (this.#messages?.has(id) === true) return false;
    this.#set(id, message);
    return true;
  }

  /** Marks a message as committed: from now on it is part of the state. */
  markCommitted(id: string): void {
    this.#set(id, undefined);
  }

  /** Adds the messages that were never committed to `undelivered` of the end. */
  addTo(end: TurnEventOf<'turn.end'>): TurnEventOf<'turn.end'> {
    if (!this.#messages) return end;
    const undelivered = [...this.#messages.values()].filter((message) => message !== undefined);
    return undelivered.length === 0 ? end : { ...end, undelivered: [...(end.undelivered ?? []), ...undelivered] };
  }

  #set(id: string, message: UserMessage | undefined): void {
    this.#messages ??= new Map();
    this.#messages.set(id, message);
  }
}
