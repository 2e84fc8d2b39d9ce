import type { Message } from './messages.js';

/**
 * A conversation that never changes: adding to it gives a longer list and leaves this one as it is.
 *
 * Lists share their storage, so that handing the history to the thousandth model call costs no more than to the
 * first: adding to the longest list of a family takes no copy. It is read like an array (`length`, `at`, iteration);
 * `toArray()` copies.
 *
 * @example
 * ```ts
 * const before = MessageList.of([{ role: 'user', content: 'Hi' }]);
 * const after = before.append({ role: 'assistant', content: 'Hello' });
 * console.log(before.length, after.length); // 1 2
 * ```
 */
export class MessageList implements Iterable<Message> {
  static readonly empty: MessageList = new MessageList([], 0);

  /** A list of the given messages. A list is returned as it is. */
  static of(messages: Iterable<Message>): MessageList {
    if (messages instanceof MessageList) return messages;
    const store = [...messages];
    return new MessageList(store, store.length);
  }

  readonly length: number;
  readonly #store: Message[];

  private constructor(store: Message[], length: number) {
    this.#store = store;
    this.length = length;
  }

  /** The message at this place, counted from the end when negative. */
  at(index: number): Message | undefined {
    const place = index < 0 ? this.length + index : index;
    return place < this.length ? this.#store[place] : undefined;
  }

  /** This list and these messages after it. */
  append(...messages: readonly Message[]): MessageList {
    return this.concat(messages);
  }

  /** This list and all of these messages after it. */
  concat(messages: readonly Message[]): MessageList {
    if (messages.length === 0) return this;
    const isLongest = this.#store.length === this.length && this !== MessageList.empty;
    const store = isLongest ? this.#store : this.#store.slice(0, this.length);
    for (const message of messages) store.push(message);
    return new MessageList(store, store.length);
  }

  /** Whether this list begins with all messages of the other one, told without comparing them where both share storage. */
  startsWith(other: MessageList): boolean {
    if (other.length > this.length) return false;
    if (other.#store === this.#store) return true;
    for (let index = 0; index < other.length; index += 1) {
      if (other.#store[index] !== this.#store[index]) return false;
    }
    return true;
  }

  /** A copy of a stretch as an array, bounds as in `Array.prototype.slice`. */
  slice(start = 0, end: number = this.length): Message[] {
    const bounded = Math.min(end < 0 ? this.length + end : end, this.length);
    return this.#store.slice(start < 0 ? Math.max(0, this.length + start) : start, Math.max(0, bounded));
  }

  /** A copy of the whole list as an array. */
  toArray(): Message[] {
    return this.slice();
  }

  toJSON(): Message[] {
    return this.slice();
  }

  *[Symbol.iterator](): IterableIterator<Message> {
    for (let index = 0; index < this.length; index += 1) yield this.#store[index] as Message;
  }
}
