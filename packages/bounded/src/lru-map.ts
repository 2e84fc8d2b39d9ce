import { checkValue, integerFrom } from '@h/options';

/**
 * A map of at most `maxEntries` entries. A new entry beyond that evicts the one that was read or written least
 * recently.
 *
 * Iteration starts at the least recently used entry and does not count as use.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const answers = new LruMap<string, string>(1000);
 * answers.set('question', 'answer');
 * ```
 */
export class LruMap<Key, Value> {
  readonly #maxEntries: number;
  readonly #entries = new Map<Key, Value>();

  constructor(maxEntries: number) {
    checkValue('LruMap', 'maxEntries', maxEntries, integerFrom(1));
    this.#maxEntries = maxEntries;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the value of a key, which becomes the most recently used one. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  /** Returns whether the key has an entry. Does not count as use. */
  has(key: Key): boolean {
    return this.#entries.has(key);
  }

  /** Sets the value of a key, which becomes the most recently used one. */
  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#maxEntries) return;
    const oldest = this.#entries.keys().next();
    if (oldest.done !== true) this.#entries.delete(oldest.value);
  }

  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  entries(): MapIterator<[Key, Value]> {
    return this.#entries.entries();
  }
}
