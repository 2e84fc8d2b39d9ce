/** A place in a {@link LinkedList}. */
export interface ListNode<Item> {
  readonly item: Item;
  previous: ListNode<Item> | undefined;
  next: ListNode<Item> | undefined;
}

/** A list in which everything costs the same however long it is: adding at the ends, and removing anywhere. */
export class LinkedList<Item> {
  #head: ListNode<Item> | undefined;
  #tail: ListNode<Item> | undefined;
  #size = 0;

  get head(): Item | undefined {
    return this.#head?.item;
  }

  get tail(): Item | undefined {
    return this.#tail?.item;
  }

  get second(): Item | undefined {
    return this.#head?.next?.item;
  }

  get size(): number {
    return this.#size;
  }

  append(item: Item): ListNode<Item> {
    const node: ListNode<Item> = { item, previous: this.#tail, next: undefined };
    if (this.#tail) this.#tail.next = node;
    else this.#head = node;
    this.#tail = node;
    this.#size += 1;
    return node;
  }

  prepend(item: Item): ListNode<Item> {
    const node: ListNode<Item> = { item, previous: undefined, next: this.#head };
    if (this.#head) this.#head.previous = node;
    else this.#tail = node;
    this.#head = node;
    this.#size += 1;
    return node;
  }

  /** Removes a node of this list. Each may be removed once. */
  remove(node: ListNode<Item>): void {
    if (node.previous) node.previous.next = node.next;
    else this.#head = node.next;
    if (node.next) node.next.previous = node.previous;
    else this.#tail = node.previous;
    this.#size -= 1;
  }

  *[Symbol.iterator](): Generator<Item> {
    for (let node = this.#head; node; node = node.next) yield node.item;
  }
}
