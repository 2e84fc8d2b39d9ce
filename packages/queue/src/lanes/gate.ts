import type { TurnPriority } from '@h/turn';
import { Bucket, GateEntry, type Ageing, type Group } from './bucket.js';
import { Groups, signatureOf, type GroupOptions } from './groups.js';
import { Heap } from './heap.js';
import { LinkedList } from './linked-list.js';
import { urgencyOf } from '../priority.js';

/** Settings of a {@link Gate}. */
export interface GateOptions {
  readonly concurrency: number;
  /** Slots that are reserved for the foreground. */
  readonly reservedForeground: number;
  /** How long a background request waits until it counts as normal, in milliseconds. */
  readonly ageAfterMs: number;
  readonly groups: Readonly<Record<string, GroupOptions>>;
  /** The time in milliseconds. Called only if a background request waits. */
  now(): number;
}

/**
 * Limits concurrent requests: the most urgent is admitted first, and the earliest among equals.
 *
 * A request whose groups are full does not hold up others. The gate calls only the clock, so it is deterministic.
 */
export class Gate<Owner> {
  readonly #options: GateOptions;
  /** Requests without a group. */
  readonly #plain = new Bucket<Owner>('', []);
  readonly #buckets = new Map<string, Bucket<Owner>>();
  /** Buckets whose first request is not known to be held back by a group. */
  readonly #ready = new Heap<Bucket<Owner>>((left, right) => left.isBefore(right));
  readonly #ageing = new LinkedList<Ageing<Owner>>();
  readonly groups: Groups<Owner>;
  readonly waiting: Record<TurnPriority, number> = { foreground: 0, normal: 0, background: 0 };
  readonly active: Record<TurnPriority, number> = { foreground: 0, normal: 0, background: 0 };
  #sequence = 0;
  #agedCount = 0;
  #returns = 0;

  constructor(options: GateOptions) {
    this.#options = options;
    this.groups = new Groups(options.groups);
  }

  get activeCount(): number {
    return this.active.foreground + this.active.normal + this.active.background;
  }

  get waitingCount(): number {
    return this.waiting.foreground + this.waiting.normal + this.waiting.background;
  }

  /** A request arrives. It joins the gate when it is the first of its session. */
  entered(_owner: Owner): void {}

  /** A request was withdrawn, or has released what it held. */
  ended(_owner: Owner): void {}

  /** The fence of an admitted request; `undefined` if the lanes number their leases. */
  fenceOf(_owner: Owner): number | undefined {
    return undefined;
  }

  /** Whether held slots are still held. False if slots that processes share were given to others. */
  get isHeld(): boolean {
    return true;
  }

  /** Adds a waiting request. */
  join(
    owner: Owner,
    ownPriority: TurnPriority,
    groupKeys: GateEntry<Owner>['groupKeys'],
    priority: TurnPriority = ownPriority,
  ): GateEntry<Owner> {
    this.#sequence += 1;
    const entry = new GateEntry(owner, ownPriority, groupKeys, this.#sequence);
    entry.priority = priority;
    const bucket = this.#bucketFor(groupKeys);
    entry.list = bucket[priority];
    entry.list.append(entry);
    this.#joined(entry, bucket);
    return entry;
  }

  /**
   * Changes the priority of a waiting request. A raised request is placed behind those that have the priority already;
   * a lowered one returns to its earlier position. Has no effect on a request that does not wait.
   */
  reprioritize(entry: GateEntry<Owner>, priority: TurnPriority): void {
    const { bucket } = entry;
    if (!bucket || entry.priority === priority) return;
    const isRaised = urgencyOf(priority) < urgencyOf(entry.priority);
    this.#unlist(entry, bucket);
    entry.priority = priority;
    if (isRaised && !entry.isReturning) {
      this.#sequence += 1;
      entry.sequence = this.#sequence;
      entry.list = bucket[priority];
      entry.list.append(entry);
    } else {
      if (!entry.isReturning) entry.sequence = entry.ownSequence;
      bucket.outOfOrder.add(entry);
    }
    this.#count(entry, 1);
    this.#settle(bucket);
  }

  /** Adds a returning request, before requests of the same priority that were not admitted yet. */
  rejoin(entry: GateEntry<Owner>, priority: TurnPriority): void {
    this.#returns += 1;
    entry.sequence = this.#returns;
    entry.isReturning = true;
    entry.priority = priority;
    const bucket = this.#bucketFor(entry.groupKeys);
    bucket.outOfOrder.add(entry);
    this.#joined(entry, bucket);
  }

  /** Removes a waiting request. */
  leave(entry: GateEntry<Owner>): void {
    this.#age();
    const { bucket } = entry;
    if (!bucket) return;
    this.#unlist(entry, bucket);
    if (entry.ageing) this.#ageing.remove(entry.ageing);
    entry.bucket = undefined;
    entry.ageing = undefined;
    this.#settle(bucket);
  }

  /** Admits the next request, if a slot is free for it. */
  admit(): GateEntry<Owner> | undefined {
    this.#age();
    for (let bucket = this.#ready.top; bucket && this.#hasSlotFor(bucket); bucket = this.#ready.top) {
      const full = fullOneOf(bucket.groups);
      if (full) {
        this.#park(bucket, full);
        continue;
      }
      const entry = bucket.first as GateEntry<Owner>;
      this.take(entry, bucket.groups);
      return entry;
    }
    return undefined;
  }

  /** Counts a waiting request as admitted. */
  protected take(entry: GateEntry<Owner>, groups: readonly Group<Owner>[]): void {
    entry.groups = groups;
    this.groups.use(groups);
    for (const group of groups) group.active += 1;
    this.active[entry.priority] += 1;
    this.leave(entry);
  }

  /** Releases the slots of an admitted request. */
  free(entry: GateEntry<Owner>): void {
    this.active[entry.priority] -= 1;
    for (const group of entry.groups) {
      group.active -= 1;
      this.#wake(group);
    }
    this.groups.disuse(entry.groups);
    entry.groups = [];
  }

  /** All waiting requests, in the order of admission if all groups had free slots. */
  inOrder(): readonly GateEntry<Owner>[] {
    const all = [this.#plain, ...this.#buckets.values()].flatMap((bucket) => [...bucket]);
    return all.toSorted((left, right) => (left.isBefore(right) ? -1 : 1));
  }

  /** Returns how many requests are admitted before one that has just joined, if all groups have free slots. */
  inFrontOf({ priority }: GateEntry<Owner>): number {
    const { foreground, normal } = this.waiting;
    if (priority === 'foreground') return foreground - 1;
    const aged = this.#agedCount;
    return foreground + normal - 1 + (priority === 'normal' ? aged : this.waiting.background);
  }

  /** The group that holds back a request, if any. */
  heldBackBy(entry: GateEntry<Owner>): Group<Owner> | undefined {
    return entry.bucket && fullOneOf(entry.bucket.groups);
  }

  #hasSlotFor(bucket: Bucket<Owner>): boolean {
    const { concurrency, reservedForeground } = this.#options;
    if (this.activeCount >= concurrency) return false;
    return (
      bucket.first?.priority === 'foreground' ||
      this.active.normal + this.active.background < concurrency - reservedForeground
    );
  }

  #bucketFor(groupKeys: GateEntry<Owner>['groupKeys']): Bucket<Owner> {
    const signature = signatureOf(groupKeys);
    if (signature === '') return this.#plain;
    const known = this.#buckets.get(signature);
    if (known) return known;
    const bucket = new Bucket<Owner>(signature, this.groups.of(groupKeys));
    this.groups.use(bucket.groups);
    this.#buckets.set(signature, bucket);
    return bucket;
  }

  #joined(entry: GateEntry<Owner>, bucket: Bucket<Owner>): void {
    entry.bucket = bucket;
    this.#count(entry, 1);
    if (entry.ownPriority === 'background') this.#watchAge(entry);
    this.#settle(bucket);
  }

  #unlist(entry: GateEntry<Owner>, bucket: Bucket<Owner>): void {
    if (entry.list) entry.list.remove(entry);
    else bucket.outOfOrder.remove(entry);
    entry.list = undefined;
    this.#count(entry, -1);
  }

  #count({ priority, hasAged }: GateEntry<Owner>, by: 1 | -1): void {
    this.waiting[priority] += by;
    if (hasAged && priority === 'background') this.#agedCount += by;
  }

  /** Moves a bucket to the right heap after its lists have changed. */
  #settle(bucket: Bucket<Owner>): void {
    bucket.refresh();
    if (!bucket.first) this.#retire(bucket);
    else if (bucket.parkedAt && !bucket.parkedAt.isFull) this.#move(bucket, this.#ready, undefined);
    else if (bucket.heap) bucket.heap.update(bucket);
    else this.#move(bucket, this.#ready, undefined);
  }

  #retire(bucket: Bucket<Owner>): void {
    this.#move(bucket, undefined, undefined);
    if (bucket === this.#plain) return;
    this.#buckets.delete(bucket.signature);
    this.groups.disuse(bucket.groups);
    for (const group of bucket.groups) this.#wake(group);
  }

  /** Parks a bucket until the group has a free slot, and wakes buckets that wait for its other groups. */
  #park(bucket: Bucket<Owner>, full: Group<Owner>): void {
    this.#move(bucket, full.parked, full);
    for (const group of bucket.groups) this.#wake(group);
  }

  /** Makes the first bucket that waits for this group ready again. */
  #wake(group: Group<Owner>): void {
    const bucket = group.isFull ? undefined : group.parked.top;
    if (bucket) this.#move(bucket, this.#ready, undefined);
  }

  #move(bucket: Bucket<Owner>, heap: Heap<Bucket<Owner>> | undefined, parkedAt: Group<Owner> | undefined): void {
    bucket.heap?.remove(bucket);
    bucket.heap = heap;
    bucket.parkedAt = parkedAt;
    heap?.add(bucket);
  }

  /** A request that has aged keeps that state when it rejoins. */
  #watchAge(entry: GateEntry<Owner>): void {
    if (entry.hasAged || this.#options.ageAfterMs === Infinity) return;
    entry.ageing = { entry, since: this.#options.now(), previous: undefined, next: undefined };
    this.#ageing.append(entry.ageing);
  }

  /** Marks background requests that have waited long enough as aged. */
  #age(): void {
    if (!this.#ageing.head) return;
    const now = this.#options.now();
    for (
      let oldest = this.#ageing.head;
      oldest && now - oldest.since >= this.#options.ageAfterMs;
      oldest = this.#ageing.head
    ) {
      this.#ageing.remove(oldest);
      const { entry } = oldest;
      const { bucket, list } = entry;
      entry.ageing = undefined;
      entry.hasAged = true;
      if (!bucket || entry.priority !== 'background') continue;
      this.#agedCount += 1;
      if (list) {
        list.remove(entry);
        bucket.aged.append(entry);
        entry.list = bucket.aged;
      } else {
        bucket.outOfOrder.update(entry);
      }
      this.#settle(bucket);
    }
  }
}

const fullOneOf = <Owner>(groups: readonly Group<Owner>[]): Group<Owner> | undefined =>
  groups.find((group) => group.isFull);
