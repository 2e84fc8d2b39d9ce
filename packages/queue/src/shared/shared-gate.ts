import type { TurnPriority } from '@h/turn';
import type { GateEntry } from '../lanes/bucket.js';
import { Gate, type GateOptions } from '../lanes/gate.js';
import { urgencyOf } from '../priority.js';
import type { Waiter } from '../lanes/waiter.js';
import type { SharedSlots, SlotRequest } from './shared-slots.js';

interface Ticket {
  readonly number: number;
  fence: number | undefined;
}

/** A gate whose slots are granted by {@link SharedSlots}. */
export class SharedGate extends Gate<Waiter> {
  readonly #slots: SharedSlots;
  readonly #tickets = new Map<Waiter, Ticket>();
  /** The requests of this process by their tickets, in the order of arrival. */
  readonly #waiters = new Map<number, Waiter>();
  /** Tickets whose slot was granted and is not used yet. */
  #granted: number[] = [];
  #last = 0;

  constructor(options: GateOptions, slots: SharedSlots) {
    super(options);
    this.#slots = slots;
  }

  override get isHeld(): boolean {
    return this.#slots.isHeld;
  }

  override entered(waiter: Waiter): void {
    this.#last += 1;
    this.#tickets.set(waiter, { number: this.#last, fence: undefined });
    this.#waiters.set(this.#last, waiter);
    this.#slots.enter(this.#last, this.#requestOf(waiter));
  }

  override ended(waiter: Waiter): void {
    const ticket = this.#tickets.get(waiter);
    if (!ticket) return;
    this.#tickets.delete(waiter);
    this.#waiters.delete(ticket.number);
    this.#slots.end(ticket.number);
  }

  override fenceOf(waiter: Waiter): number | undefined {
    return this.#tickets.get(waiter)?.fence;
  }

  override join(
    waiter: Waiter,
    ownPriority: TurnPriority,
    groupKeys: GateEntry<Waiter>['groupKeys'],
    priority: TurnPriority = ownPriority,
  ): GateEntry<Waiter> {
    const ticket = this.#tickets.get(waiter);
    if (ticket && priority !== ownPriority) {
      this.#slots.reprioritize(ticket.number, priority, urgencyOf(priority) < urgencyOf(ownPriority));
    }
    return super.join(waiter, ownPriority, groupKeys, priority);
  }

  override reprioritize(entry: GateEntry<Waiter>, priority: TurnPriority): void {
    const ticket = this.#tickets.get(entry.owner);
    if (ticket && entry.bucket && entry.priority !== priority) {
      this.#slots.reprioritize(ticket.number, priority, urgencyOf(priority) < urgencyOf(entry.priority));
    }
    super.reprioritize(entry, priority);
  }

  override rejoin(entry: GateEntry<Waiter>, priority: TurnPriority): void {
    super.rejoin(entry, priority);
    const ticket = this.#tickets.get(entry.owner);
    if (ticket) this.#slots.reclaim(ticket.number, priority);
  }

  override leave(entry: GateEntry<Waiter>): void {
    super.leave(entry);
    const ticket = this.#tickets.get(entry.owner);
    // It no longer waits for its lent slot, and keeps its session.
    if (ticket && entry.owner.holder?.slot === 'lent') this.#slots.lend(ticket.number);
  }

  override free(entry: GateEntry<Waiter>): void {
    super.free(entry);
    const ticket = this.#tickets.get(entry.owner);
    if (ticket) this.#slots.lend(ticket.number);
  }

  /** Returns the next request to which a slot was granted. */
  override admit(): GateEntry<Waiter> | undefined {
    for (let ticket = this.#granted.shift(); ticket !== undefined; ticket = this.#granted.shift()) {
      const waiter = this.#waiters.get(ticket);
      const isReturning = waiter?.holder?.slot === 'wanted';
      if (waiter?.entry && (isReturning || waiter.state === 'at-gate')) {
        this.take(waiter.entry, []);
        return waiter.entry;
      }
      if (!waiter) this.#slots.end(ticket);
      else if (waiter.holder) this.#slots.lend(ticket);
      else this.#slots.decline(ticket);
    }
    return undefined;
  }

  grant(number: number, fence: number): void {
    const waiter = this.#waiters.get(number);
    const ticket = waiter && this.#tickets.get(waiter);
    if (ticket) ticket.fence ??= fence;
    this.#granted.push(number);
  }

  /** Forgets grants that were lost. */
  forget(): void {
    this.#granted = [];
  }

  /** Enters the waiting requests again, in the order of arrival. */
  enterAgain(): void {
    for (const [number, waiter] of this.#waiters) {
      const ticket = this.#tickets.get(waiter);
      if (ticket) ticket.fence = undefined;
      this.#slots.enter(number, this.#requestOf(waiter));
      const priority = waiter.entry?.priority ?? waiter.priority;
      if (priority !== waiter.priority) this.#slots.reprioritize(number, priority, true);
    }
  }

  #requestOf({ session, priority, request }: Waiter): SlotRequest {
    const groups = this.groups.of(request.groups ?? {}).filter(({ capacity }) => Number.isFinite(capacity));
    return {
      session,
      priority,
      isAhead: request.ahead === true,
      groups: groups.map(({ kind, key, capacity }) => ({
        name: JSON.stringify([kind, key]),
        concurrency: capacity,
      })),
    };
  }
}
