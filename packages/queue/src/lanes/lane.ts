import type { Dropped } from '../contract.js';
import type { TurnPriority } from '@h/turn';
import { LinkedList } from './linked-list.js';
import { highestOf, noCounts, type PriorityCounts } from '../priority.js';
import type { Waiter } from './waiter.js';

/** The requests of one session in the order of arrival. The first one holds it or waits for a slot. */
export class Lane {
  readonly session: string;
  readonly waiters = new LinkedList<Waiter>();
  dropped: Dropped | undefined;
  readonly #counts: PriorityCounts = noCounts();
  readonly #announced: () => PriorityCounts | undefined;

  /** @param announced messages that wait for the session outside of the lanes, by priority */
  constructor(session: string, announced: () => PriorityCounts | undefined) {
    this.session = session;
    this.#announced = announced;
  }

  /**
   * The priority of the most urgent request in it or announced for it, because the first request holds up the others.
   */
  get priority(): TurnPriority {
    const { foreground, normal, background } = this.#announced() ?? none;
    return (
      highestOf({
        foreground: this.#counts.foreground + foreground,
        normal: this.#counts.normal + normal,
        background: this.#counts.background + background,
      }) ?? 'background'
    );
  }

  /** Number of requests that were not admitted yet. */
  get waitingCount(): number {
    const { head, size } = this.waiters;
    return head && !head.isWaiting ? size - 1 : size;
  }

  get oldestWaiting(): Waiter | undefined {
    const { head } = this.waiters;
    return head?.isWaiting === true ? head : head?.next;
  }

  get newestWaiting(): Waiter | undefined {
    const { tail } = this.waiters;
    return tail?.isWaiting === true ? tail : undefined;
  }

  append(waiter: Waiter): void {
    this.waiters.append(waiter);
    this.#counts[waiter.priority] += 1;
  }

  /** Inserts a request before all waiting ones. */
  insert(waiter: Waiter): void {
    const { head } = this.waiters;
    const holder = head?.isWaiting === false ? head : undefined;
    if (holder) this.waiters.remove(holder);
    this.waiters.prepend(waiter);
    if (holder) this.waiters.prepend(holder);
    this.#counts[waiter.priority] += 1;
  }

  /** Returns the dropped messages since the last call. */
  takeDropped(): Dropped | undefined {
    const { dropped } = this;
    this.dropped = undefined;
    return dropped;
  }

  remove(waiter: Waiter): void {
    this.waiters.remove(waiter);
    this.#counts[waiter.priority] -= 1;
  }
}

const none = noCounts();
