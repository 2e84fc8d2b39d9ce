import type { TurnPriority } from '@h/turn';
import type { Group } from './groups.js';
import type { Heap, HeapItem } from './heap.js';
import { LinkedList, type Linked } from './linked-list.js';

/** Somebody at the gate: waiting in a bucket, or let in. */
export interface Pass<Owner> extends Linked<Pass<Owner>> {
  readonly owner: Owner;
  readonly priority: TurnPriority;
  readonly groupKeys: Readonly<Record<string, string | undefined>>;
  /** When it came to the gate, as a number that only grows; below zero for those who have come back. */
  sequence: number;
  /** When it came to the gate, in milliseconds. */
  readonly since: number;
  /** The groups whose slots it holds. */
  groups: readonly Group<Owner>[];
  bucket: Bucket<Owner> | undefined;
  list: LinkedList<Pass<Owner>> | undefined;
  /** Its place among those that grow old. */
  ageing: Ageing<Owner> | undefined;
}

/** Somebody of the background who is going to count as normal. */
export interface Ageing<Owner> extends Linked<Ageing<Owner>> {
  readonly pass: Pass<Owner>;
}

const firstOf = <Owner>(left: Pass<Owner> | undefined, right: Pass<Owner> | undefined): Pass<Owner> | undefined =>
  left && right ? (left.sequence < right.sequence ? left : right) : (left ?? right);

/** Those at the gate who want slots of the same groups: what holds back one of them holds back all. */
export class Bucket<Owner> implements HeapItem {
  readonly signature: string;
  readonly groups: readonly Group<Owner>[];
  readonly foreground = new LinkedList<Pass<Owner>>();
  readonly normal = new LinkedList<Pass<Owner>>();
  /** From the background, and old enough to count as normal. */
  readonly aged = new LinkedList<Pass<Owner>>();
  readonly background = new LinkedList<Pass<Owner>>();
  heapIndex = 0;
  /** Where it lies. */
  heap: Heap<Bucket<Owner>> | undefined;
  /** The group that it waits for, if it does. */
  parkedAt: Group<Owner> | undefined;
  #first: Pass<Owner> | undefined;
  #rank = 3;

  constructor(signature: string, groups: readonly Group<Owner>[]) {
    this.signature = signature;
    this.groups = groups;
  }

  /** Who is to be let in first. */
  get first(): Pass<Owner> | undefined {
    return this.#first;
  }

  /** Whether its first one is in the foreground. */
  get isForeground(): boolean {
    return this.#rank === 0;
  }

  /** To be called after its lists have changed. */
  refresh(): void {
    const urgent = this.foreground.head;
    const middle = urgent ?? firstOf(this.normal.head, this.aged.head);
    this.#first = middle ?? this.background.head;
    this.#rank = urgent ? 0 : middle ? 1 : 2;
  }

  isBefore(other: Bucket<Owner>): boolean {
    if (this.#rank !== other.#rank) return this.#rank < other.#rank;
    return (this.#first?.sequence ?? Infinity) < (other.#first?.sequence ?? Infinity);
  }
}
