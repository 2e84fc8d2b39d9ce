/** A bounded map. When it is full, it drops the entry that was set least recently. */
export class Recent<Key, Value> {
  /** Made for the first entry: most turns that wait have none. */
  #entries: Map<Key, Value | undefined> | undefined;
  readonly #max: number;
  #base: Recent<Key, Value> | undefined;

  constructor(max: number, base?: Recent<Key, Value>) {
    this.#max = max;
    this.#base = base;
  }

  /** Returns a short-lived map that reads from this one and stores its own few changes. */
  fork(): Recent<Key, Value> {
    return new Recent(this.#max, this);
  }

  get(key: Key): Value | undefined {
    const value = this.#entries?.get(key);
    if (value !== undefined || this.#base === undefined || this.#entries?.has(key) === true) return value;
    return this.#base.get(key);
  }

  set(key: Key, value: Value | undefined): void {
    this.#entries ??= new Map();
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#max) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  delete(key: Key): void {
    if (this.#base === undefined) this.#entries?.delete(key);
    else this.set(key, undefined);
  }

  clear(): void {
    this.#base = undefined;
    this.#entries = undefined;
  }
}
