import type { Message } from './messages.js';

/**
 * An immutable conversation: adding messages returns a longer list.
 *
 * Lists share their storage, so passing the history to the thousandth model call costs no more than to the first:
 * adding to the longest list of a family copies nothing. Reads like an array (`length`, `at`, iteration); `toArray()`
 * copies.
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

  /** Creates a list of the given messages. Returns a list unchanged. */
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

  /** Returns the message at an index; a negative index counts from the end. */
  at(index: number): Message | undefined {
    const place = index < 0 ? this.length + index : index;
    return place < this.length ? this.#store[place] : undefined;
  }

  /** Returns this list followed by these messages. */
  append(...messages: readonly Message[]): MessageList {
    return this.concat(messages);
  }

  /** Returns this list followed by all of these messages. */
  concat(messages: readonly Message[]): MessageList {
    if (messages.length === 0) return this;
    const isLongest = this.#store.length === this.length && this !== MessageList.empty;
    const store = isLongest ? this.#store : this.#store.slice(0, this.length);
    for (const message of messages) store.push(message);
    return new MessageList(store, store.length);
  }

  /** Whether this list begins with all messages of the other one. Takes constant time if both share storage. */
  startsWith(other: MessageList): boolean {
    if (other.length > this.length) return false;
    if (other.#store === this.#store) return true;
    for (let index = 0; index < other.length; index += 1) {
      if (other.#store[index] !== this.#store[index]) return false;
    }
    return true;
  }

  /** Copies a range to an array, with the bounds of `Array.prototype.slice`. */
  slice(start = 0, end: number = this.length): Message[] {
    const bounded = Math.min(end < 0 ? this.length + end : end, this.length);
    return this.#store.slice(start < 0 ? Math.max(0, this.length + start) : start, Math.max(0, bounded));
  }

  /** Copies the list to an array. */
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
