import type { TurnPriority } from '@h/turn';
import { Heap, type HeapItem } from './heap.js';
import { LinkedList, type Linked } from './linked-list.js';
import { urgencyOf } from '../priority.js';

/** 0 for the foreground, 1 for normal and aged background requests, 2 for the background. */
export type Rank = 0 | 1 | 2;

/** A request at the gate: waiting in a bucket, or admitted. A class, because many may exist at once. */
export class GateEntry<Owner> implements Linked<GateEntry<Owner>>, HeapItem {
  readonly owner: Owner;
  /** Its own priority, and its effective one: that of the most urgent request in its session. */
  readonly ownPriority: TurnPriority;
  priority: TurnPriority;
  readonly groupKeys: Readonly<Record<string, string | undefined>>;
  /** It has waited for `ageAfterMs` in the background and counts as normal. */
  hasAged = false;
  /** Number in the order of arrival; returning requests are numbered separately. */
  sequence: number;
  /** Its number on arrival. A priority that is raised later gets a new number. */
  readonly ownSequence: number;
  isReturning = false;
  /** The groups whose slots it holds. */
  groups: readonly Group<Owner>[] = noGroups;
  bucket: Bucket<Owner> | undefined;
  /** The list of the bucket that contains it, unless it is in `outOfOrder`. */
  list: LinkedList<GateEntry<Owner>> | undefined;
  /** Its node in the list of requests that age. */
  ageing: Ageing<Owner> | undefined;
  previous: GateEntry<Owner> | undefined;
  next: GateEntry<Owner> | undefined;
  heapIndex = 0;

  constructor(owner: Owner, ownPriority: TurnPriority, groupKeys: GateEntry<Owner>['groupKeys'], sequence: number) {
    this.owner = owner;
    this.ownPriority = ownPriority;
    this.priority = ownPriority;
    this.groupKeys = groupKeys;
    this.sequence = sequence;
    this.ownSequence = sequence;
  }

  get rank(): Rank {
    return this.hasAged && this.priority === 'background' ? 1 : urgencyOf(this.priority);
  }

  /** Returns whether it is admitted before the other one, if its groups have free slots. */
  isBefore(other: GateEntry<Owner>): boolean {
    if (this.rank !== other.rank) return this.rank < other.rank;
    if (this.isReturning !== other.isReturning) return this.isReturning;
    return this.sequence < other.sequence;
  }
}

/** A background request that will count as normal. */
export interface Ageing<Owner> extends Linked<Ageing<Owner>> {
  readonly entry: GateEntry<Owner>;
  readonly since: number;
}

const noGroups: readonly never[] = [];

const firstOf = <Owner>(
  left: GateEntry<Owner> | undefined,
  right: GateEntry<Owner> | undefined,
): GateEntry<Owner> | undefined => (left && right ? (left.isBefore(right) ? left : right) : (left ?? right));

/** The requests at the gate that need slots of the same groups. A full group holds all of them back. */
export class Bucket<Owner> implements HeapItem {
  readonly signature: string;
  readonly groups: readonly Group<Owner>[];
  readonly foreground = new LinkedList<GateEntry<Owner>>();
  readonly normal = new LinkedList<GateEntry<Owner>>();
  /** Background requests that have aged and count as normal. */
  readonly aged = new LinkedList<GateEntry<Owner>>();
  readonly background = new LinkedList<GateEntry<Owner>>();
  /** Requests that reclaim a lent slot, and requests whose priority was lowered again. */
  readonly outOfOrder = new Heap<GateEntry<Owner>>((left, right) => left.isBefore(right));
  heapIndex = 0;
  /** The heap that contains it. */
  heap: Heap<Bucket<Owner>> | undefined;
  /** The full group that it waits for. */
  parkedAt: Group<Owner> | undefined;
  #first: GateEntry<Owner> | undefined;

  constructor(signature: string, groups: readonly Group<Owner>[]) {
    this.signature = signature;
    this.groups = groups;
  }

  /** Returns the request that is admitted first. */
  get first(): GateEntry<Owner> | undefined {
    return this.#first;
  }

  /** Finds the first request again. Call it after the lists have changed. */
  refresh(): void {
    const newcomer = this.foreground.head ?? firstOf(this.normal.head, this.aged.head) ?? this.background.head;
    this.#first = firstOf(newcomer, this.outOfOrder.top);
  }

  isBefore({ first }: Bucket<Owner>): boolean {
    return this.#first !== undefined && (first === undefined || this.#first.isBefore(first));
  }

  *[Symbol.iterator](): Generator<GateEntry<Owner>> {
    for (const list of [this.foreground, this.normal, this.aged, this.background, this.outOfOrder]) yield* list;
  }
}

/** The slots of one key, such as the provider `anthropic`. It exists while a request uses it or waits for it. */
export class Group<Owner> {
  readonly kind: string;
  readonly key: string;
  readonly capacity: number;
  active = 0;
  /** Number of buckets and admitted requests that refer to it. */
  users = 0;
  /** Buckets whose next request waits for a slot of this group. */
  readonly parked = new Heap<Bucket<Owner>>((left, right) => left.isBefore(right));

  constructor(kind: string, key: string, capacity: number) {
    this.kind = kind;
    this.key = key;
    this.capacity = capacity;
  }

  get isFull(): boolean {
    return this.active >= this.capacity;
  }
}
