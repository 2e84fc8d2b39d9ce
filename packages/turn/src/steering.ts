import type { TurnEventOf } from './events.js';
import type { UserMessage } from './messages.js';

/** Messages that were given to a running turn and have not come through its pipeline yet. */
export class Steering {
  readonly #onTheirWay = new Map<string, UserMessage>();
  /** All that were ever given to this turn. */
  readonly #known = new Set<string>();

  /** Takes a message in, once. @returns whether it is new */
  add(id: string, message: UserMessage): boolean {
    if (this.#known.has(id)) return false;
    this.#known.add(id);
    this.#onTheirWay.set(id, message);
    return true;
  }

  /** The message has come through: from now on it is part of the turn's state. */
  hasLeft(id: string): void {
    this.#known.add(id);
    this.#onTheirWay.delete(id);
  }

  /** The end of a turn, with what has not come through among what was not delivered. */
  addTo(end: TurnEventOf<'turn.end'>): TurnEventOf<'turn.end'> {
    if (this.#onTheirWay.size === 0) return end;
    return { ...end, undelivered: [...(end.undelivered ?? []), ...this.#onTheirWay.values()] };
  }

  /** What has not come through, as if it had. */
  asReceived(turn: string, at: number): readonly TurnEventOf<'input.received'>[] {
    return [...this.#onTheirWay].map(([id, message]) => ({ type: 'input.received', turn, at, id, message }));
  }
}
