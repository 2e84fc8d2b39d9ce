/** An item of a {@link LinkedList}. It is its own node, so that adding it allocates nothing. */
export interface Linked<Item> {
  previous: Item | undefined;
  next: Item | undefined;
}

/**
 * A doubly linked list: adding at the ends and removing anywhere take constant time.
 *
 * An item is in one list at a time. Remove it only from that list.
 */
export class LinkedList<Item extends Linked<Item>> {
  #head: Item | undefined;
  #tail: Item | undefined;
  #size = 0;

  get head(): Item | undefined {
    return this.#head;
  }

  get tail(): Item | undefined {
    return this.#tail;
  }

  get size(): number {
    return this.#size;
  }

  append(item: Item): void {
    const before = this.#tail;
    link(before, item);
    link(item, undefined);
    if (!before) this.#head = item;
    this.#tail = item;
    this.#size += 1;
  }

  prepend(item: Item): void {
    const after = this.#head;
    link(undefined, item);
    link(item, after);
    if (!after) this.#tail = item;
    this.#head = item;
    this.#size += 1;
  }

  remove(item: Item): void {
    const { previous, next } = item;
    if (previous) previous.next = next;
    else this.#head = next;
    if (next) next.previous = previous;
    else this.#tail = previous;
    link(undefined, item);
    link(item, undefined);
    this.#size -= 1;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let item = this.#head; item; item = item.next) yield item;
  }
}

/** Links two items, or ends the list at one. */
const link = <Item extends Linked<Item>>(left: Item | undefined, right: Item | undefined): void => {
  if (left) left.next = right;
  if (right) right.previous = left;
};
