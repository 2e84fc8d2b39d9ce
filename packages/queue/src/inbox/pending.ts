import type { TurnPriority, UserMessage } from '@h/turn';
import type { Dropped } from '../contract.js';
import { joinDropped, withDropped } from '../dropped.js';
import type { Delivery, InboxMode, SendOptions } from './delivery.js';
import type { FullPolicy } from '../lanes/bounds.js';
import { textOf } from '../message-text.js';
import { priorityOf, urgencyOf } from '../priority.js';

/** A message that was not delivered yet. */
export interface Item {
  /** Identifies the message in a turn. */
  readonly tag: string;
  /** Its position in the order of arrival. */
  readonly order: number;
  readonly message: UserMessage;
  readonly mode: InboxMode;
  readonly mergeKey: string;
  readonly options: SendOptions;
  readonly at: number;
  /** Reports the delivery. Only the first call counts. */
  settle(delivery: Delivery): void;
}

/** The pauses of the mode `collect`, in milliseconds. */
export interface Debounce {
  readonly debounceMs: number;
  readonly maxDebounceMs: number;
}

/** The messages of one session that no turn has accepted, in order of arrival. */
export class Pending {
  readonly #max: number;
  readonly #policy: FullPolicy;
  #items: readonly Item[] = [];
  #dropped: Dropped | undefined;

  constructor(max: number, policy: FullPolicy) {
    this.#max = max;
    this.#policy = policy;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The priority of the most urgent message. */
  get priority(): TurnPriority | undefined {
    let highest: TurnPriority | undefined;
    for (const { options } of this.#items) {
      const priority = options.priority ?? priorityOf(options.trigger ?? 'user');
      if (highest === undefined || urgencyOf(priority) < urgencyOf(highest)) highest = priority;
    }
    return highest;
  }

  /** Adds a message; if the limit is reached, drops it or another one. */
  add(item: Item): void {
    if (this.#items.length < this.#max) {
      this.#items = [...this.#items, item];
      return;
    }
    const dropped = this.#policy === 'reject' ? item : this.#items.at(this.#policy === 'drop-newest' ? -1 : 0);
    if (this.#policy === 'summarize' && dropped) this.#dropped = withDropped(this.#dropped, textOf(dropped.message));
    this.#items = [...this.#items, item].filter((other) => other !== dropped);
    dropped?.settle({ status: 'dropped', reason: 'full' });
  }

  /** Puts back messages that a turn did not deliver, each at its position. None is dropped. */
  takeBack(items: readonly Item[], dropped?: Dropped): void {
    this.#items = [...items, ...this.#items].toSorted((left, right) => left.order - right.order);
    this.#dropped = joinDropped(dropped, this.#dropped);
  }

  /** Offers steering messages to the running turn, in order, until it rejects one. More may arrive meanwhile. */
  steer(offer: (item: Item) => boolean): void {
    for (let item = this.#nextToSteer(); item; item = this.#nextToSteer()) {
      const taken = this.#take((other) => other === item);
      if (offer(item)) continue;
      this.takeBack(taken);
      return;
    }
  }

  /** Removes and returns the messages for the next turn, or returns the time at which they will be complete. */
  nextBatch(now: number, debounce: Debounce): readonly Item[] | number | undefined {
    const [first] = this.#items;
    if (!first) return undefined;
    const lastInterrupt = this.#items.findLastIndex(({ mode }) => mode === 'interrupt');
    if (lastInterrupt >= 0) {
      const { mergeKey } = this.#items[lastInterrupt] as Item;
      return this.#take((item, index) => index <= lastInterrupt && item.mergeKey === mergeKey);
    }
    if (first.mode !== 'collect') return this.#take((item) => item === first);
    const end = this.#items.findIndex((item) => item.mode !== 'collect' || item.mergeKey !== first.mergeKey);
    const length = end < 0 ? this.#items.length : end;
    const last = this.#items[length - 1] as Item;
    const dueAt = Math.min(last.at + debounce.debounceMs, first.at + debounce.maxDebounceMs);
    return end < 0 && now < dueAt ? dueAt : this.#take((_, index) => index < length);
  }

  /** Returns the dropped messages since the last call. */
  takeDropped(): Dropped | undefined {
    const dropped = this.#dropped;
    this.#dropped = undefined;
    return dropped;
  }

  close(): void {
    this.settleAll({ status: 'dropped', reason: 'closed' });
  }

  /** Removes all messages, with this outcome. */
  settleAll(delivery: Delivery): void {
    for (const item of this.#take(() => true)) item.settle(delivery);
  }

  #nextToSteer(): Item | undefined {
    return this.#items.find(({ mode }) => mode === 'steer');
  }

  #take(isTaken: (item: Item, index: number) => boolean): readonly Item[] {
    const taken = this.#items.filter(isTaken);
    this.#items = this.#items.filter((item) => !taken.includes(item));
    return taken;
  }
}
