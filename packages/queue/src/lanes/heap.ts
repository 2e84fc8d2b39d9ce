/** An item of a {@link Heap}. It stores its own index, so that it can be moved when its rank changes. */
export interface HeapItem {
  heapIndex: number;
}

/** A binary heap: the first by `isBefore` is on top, and adding, moving and removing take O(log n). */
export class Heap<Item extends HeapItem> {
  readonly #items: Item[] = [];
  readonly #isBefore: (left: Item, right: Item) => boolean;

  constructor(isBefore: (left: Item, right: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get top(): Item | undefined {
    return this.#items[0];
  }

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#rise(item, this.#items.length - 1);
  }

  /** Moves an item after its rank has changed. */
  update(item: Item): void {
    this.#rise(item, item.heapIndex);
    this.#sink(item, item.heapIndex);
  }

  remove(item: Item): void {
    const index = item.heapIndex;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#place(last, index);
    this.update(last);
  }

  /** Iterates in no particular order. */
  [Symbol.iterator](): Iterator<Item> {
    return this.#items.values();
  }

  #rise(item: Item, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#items[parentIndex] as Item;
      if (!this.#isBefore(item, parent)) break;
      this.#place(parent, index);
      index = parentIndex;
    }
    this.#place(item, index);
  }

  #sink(item: Item, from: number): void {
    let index = from;
    for (;;) {
      const child = this.#firstChild(index);
      if (child === undefined || !this.#isBefore(child, item)) break;
      const childIndex = child.heapIndex;
      this.#place(child, index);
      index = childIndex;
    }
    this.#place(item, index);
  }

  #firstChild(index: number): Item | undefined {
    const left = this.#items[2 * index + 1];
    const right = this.#items[2 * index + 2];
    if (left === undefined || right === undefined) return left;
    return this.#isBefore(right, left) ? right : left;
  }

  #place(item: Item, index: number): void {
    this.#items[index] = item;
    item.heapIndex = index;
  }
}
