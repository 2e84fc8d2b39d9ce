/** Options of {@link WriteQueue}. */
export interface WriteQueueOptions<Item> {
  /** Writes the items of one batch. */
  readonly write: (batch: readonly Item[]) => Promise<void>;
  /** Returns the size of an item, in the unit of `maxSize`. */
  readonly sizeOf?: (item: Item) => number;
  /** Largest size of a batch of several items. @defaultValue no limit */
  readonly maxSize?: number;
  /** Largest number of items in a batch. @defaultValue no limit */
  readonly maxItems?: number;
  /** Returns whether an item begins a new batch. @defaultValue never */
  readonly startsBatch?: (item: Item) => boolean;
}

/** Items that are written together. */
interface Batch<Item> {
  readonly items: Item[];
  size: number;
  readonly done: Promise<void>;
  readonly settle: (error?: Error) => void;
}

/**
 * Writes items in order, one batch at a time: items that are added in the same tick, or during a write, share the next
 * write. After a failure nothing more is written, so that what is stored has no gaps.
 *
 * @example
 * ```ts
 * const queue = new WriteQueue<string>({ write: (lines) => appendFile('a.txt', lines.join('')) });
 * await Promise.all([queue.add('one\n'), queue.add('two\n')]);
 * ```
 */
export class WriteQueue<Item> {
  readonly #options: WriteQueueOptions<Item>;
  readonly #waiting: Batch<Item>[] = [];
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(options: WriteQueueOptions<Item>) {
    this.#options = options;
  }

  /** Adds an item. Resolves when it is written; rejects if it, or one before it, could not be written. */
  add(item: Item): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    const { sizeOf } = this.#options;
    const size = sizeOf?.(item) ?? 0;
    const latest = this.#waiting.at(-1);
    const batch = latest !== undefined && this.#joins(latest, item, size) ? latest : this.#newBatch();
    batch.items.push(item);
    batch.size += size;
    this.#writing ??= this.#writeAll();
    return batch.done;
  }

  /** The first error. All further items are rejected with it. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Rejects all items that are not being written, as after a failed write. Returns the first error. */
  fail(thrown: unknown): Error {
    this.#failure ??= thrown instanceof Error ? thrown : new Error(String(thrown));
    return this.#failure;
  }

  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  #joins(batch: Batch<Item>, item: Item, size: number): boolean {
    const { maxItems = Infinity, maxSize = Infinity, startsBatch } = this.#options;
    return batch.items.length < maxItems && batch.size + size <= maxSize && startsBatch?.(item) !== true;
  }

  #newBatch(): Batch<Item> {
    const batch = newBatch<Item>();
    this.#waiting.push(batch);
    return batch;
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    // Items of the same tick are written together.
    await Promise.resolve();
    for (let batch = this.#waiting.shift(); batch; batch = this.#waiting.shift()) {
      try {
        if (this.#failure) throw this.#failure;
        await this.#options.write(batch.items);
        batch.settle();
      } catch (error) {
        batch.settle(this.fail(error));
      }
    }
    this.#writing = undefined;
  }
}

const newBatch = <Item>(): Batch<Item> => {
  let settle: Batch<Item>['settle'] = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  // Each caller has the promise. A caller that ignores it observes the failure with its next item.
  done.catch(() => undefined);
  return { items: [], size: 0, done, settle };
};
