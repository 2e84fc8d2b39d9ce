import type { TurnPriority } from '@h/turn';
import { Bucket, type Ageing, type Pass } from './bucket.js';
import { Groups, signatureOf, type Group, type GroupOptions } from './groups.js';
import { Heap } from './heap.js';
import { LinkedList } from './linked-list.js';

/** What a gate keeps to. */
export interface GateOptions {
  readonly concurrency: number;
  /** Slots that only the foreground may take. */
  readonly reservedForeground: number;
  /** After how long the background counts as normal, in milliseconds. */
  readonly ageAfterMs: number;
  readonly groups: Readonly<Record<string, GroupOptions>>;
}

/**
 * The cap on how many run at once: the most urgent is let in first, the one that came first among equals.
 *
 * Who lacks a slot in one of its groups holds nobody else back. It knows no clock and calls nobody: the same calls give
 * the same answers.
 */
export class Gate<Owner> {
  readonly #options: GateOptions;
  /** Those who are in no group. */
  readonly #plain = new Bucket<Owner>('', []);
  readonly #buckets = new Map<string, Bucket<Owner>>();
  /** Those of whose first one it is not known that a group holds it back. */
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

  /** Joins those who wait. */
  join(owner: Owner, priority: TurnPriority, groupKeys: Pass<Owner>['groupKeys'], now: number): Pass<Owner> {
    this.#sequence += 1;
    const pass: Pass<Owner> = {
      owner,
      priority,
      groupKeys,
      sequence: this.#sequence,
      since: now,
      groups: [],
      bucket: undefined,
      list: undefined,
      ageing: undefined,
      previous: undefined,
      next: undefined,
    };
    const bucket = this.#bucketFor(groupKeys);
    this.#put(pass, bucket, bucket[priority]);
    if (priority === 'background' && this.#options.ageAfterMs !== Infinity) this.#watchAge(pass);
    return pass;
  }

  /** Joins again, ahead of those of its priority: it had been let in before them. */
  rejoin(pass: Pass<Owner>): void {
    this.#returns += 1;
    pass.sequence = -this.#returns;
    const bucket = this.#bucketFor(pass.groupKeys);
    this.#put(pass, bucket, bucket[pass.priority], true);
  }

  /** Waits no longer. */
  leave(pass: Pass<Owner>): void {
    const { bucket, list } = pass;
    if (!bucket || !list) return;
    list.remove(pass);
    if (list === bucket.aged) this.#agedCount -= 1;
    if (pass.ageing) this.#ageing.remove(pass.ageing);
    pass.bucket = undefined;
    pass.list = undefined;
    pass.ageing = undefined;
    this.waiting[pass.priority] -= 1;
    this.#settle(bucket);
  }

  /** Lets in whoever is next; nobody when there is no slot that it may take. */
  admit(now: number): Pass<Owner> | undefined {
    this.#age(now);
    for (let bucket = this.#ready.top; bucket && this.#hasSlotFor(bucket); bucket = this.#ready.top) {
      const full = bucket.groups.find((group) => group.isFull);
      if (full) {
        this.#park(bucket, full);
        continue;
      }
      const pass = bucket.first as Pass<Owner>;
      pass.groups = bucket.groups;
      this.groups.use(pass.groups);
      for (const group of pass.groups) group.active += 1;
      this.active[pass.priority] += 1;
      this.leave(pass);
      return pass;
    }
    return undefined;
  }

  /** Gives back the slots of one that was let in. */
  free(pass: Pass<Owner>): void {
    this.active[pass.priority] -= 1;
    for (const group of pass.groups) {
      group.active -= 1;
      this.#wake(group);
    }
    this.groups.disuse(pass.groups);
    pass.groups = [];
  }

  /** Those who wait, in the order in which they would be let in if no group held anybody back. */
  inOrder(): readonly Pass<Owner>[] {
    const rankOf = (pass: Pass<Owner>): number => (pass.list === pass.bucket?.foreground ? 0 : pass.list === pass.bucket?.background ? 2 : 1);
    return [this.#plain, ...this.#buckets.values()]
      .flatMap((bucket) => [...bucket.foreground, ...bucket.normal, ...bucket.aged, ...bucket.background])
      .toSorted((left, right) => rankOf(left) - rankOf(right) || left.sequence - right.sequence);
  }

  /** How many are let in before one that has just come, if no group holds anybody back. */
  inFrontOf({ priority }: Pass<Owner>): number {
    const { foreground, normal } = this.waiting;
    if (priority === 'foreground') return foreground - 1;
    const aged = this.#agedCount;
    return foreground + normal - 1 + (priority === 'normal' ? aged : this.waiting.background);
  }

  /** The group for which one waits, if it is a group. */
  heldBackBy(pass: Pass<Owner>): Group<Owner> | undefined {
    return pass.bucket?.groups.find((group) => group.isFull);
  }

  #hasSlotFor(bucket: Bucket<Owner>): boolean {
    const { concurrency, reservedForeground } = this.#options;
    if (this.activeCount >= concurrency) return false;
    return bucket.isForeground || this.active.normal + this.active.background < concurrency - reservedForeground;
  }

  #bucketFor(groupKeys: Pass<Owner>['groupKeys']): Bucket<Owner> {
    const signature = signatureOf(groupKeys);
    if (signature === '') return this.#plain;
    const known = this.#buckets.get(signature);
    if (known) return known;
    const bucket = new Bucket<Owner>(signature, this.groups.of(groupKeys));
    this.groups.use(bucket.groups);
    this.#buckets.set(signature, bucket);
    return bucket;
  }

  #put(pass: Pass<Owner>, bucket: Bucket<Owner>, list: LinkedList<Pass<Owner>>, isFirst = false): void {
    if (isFirst) list.prepend(pass);
    else list.append(pass);
    pass.bucket = bucket;
    pass.list = list;
    this.waiting[pass.priority] += 1;
    this.#settle(bucket);
  }

  /** Puts a bucket where it belongs now that its lists have changed. */
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

  /** Sets a bucket aside until the group has a slot. The slots of others that it did not take are for those behind it. */
  #park(bucket: Bucket<Owner>, full: Group<Owner>): void {
    this.#move(bucket, full.parked, full);
    for (const group of bucket.groups) this.#wake(group);
  }

  /** The first of those who wait for this group may try again. */
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

  #watchAge(pass: Pass<Owner>): void {
    pass.ageing = { pass, previous: undefined, next: undefined };
    this.#ageing.append(pass.ageing);
  }

  /** Those of the background who have waited long enough count as normal from now on; never as more. */
  #age(now: number): void {
    for (let oldest = this.#ageing.head; oldest && now - oldest.pass.since >= this.#options.ageAfterMs; oldest = this.#ageing.head) {
      this.#ageing.remove(oldest);
      const { pass } = oldest;
      const { bucket, list } = pass;
      pass.ageing = undefined;
      if (!bucket || !list) continue;
      list.remove(pass);
      bucket.aged.append(pass);
      pass.list = bucket.aged;
      this.#agedCount += 1;
      this.#settle(bucket);
    }
  }
}
