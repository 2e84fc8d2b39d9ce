import type { Dropped } from './contract.js';
import { LinkedList } from './linked-list.js';
import type { Ticket } from './ticket.js';

/** One session: those who want a place in it, in the order in which they came. The first one holds it. */
export class Lane {
  readonly session: string;
  readonly tickets = new LinkedList<Ticket>();
  dropped: Dropped | undefined;

  constructor(session: string) {
    this.session = session;
  }

  /** How many have not been let in. */
  get waitingCount(): number {
    const { head, size } = this.tickets;
    return head && !head.isWaiting ? size - 1 : size;
  }

  get oldestWaiting(): Ticket | undefined {
    const { head } = this.tickets;
    return head?.isWaiting === true ? head : head?.next;
  }

  get newestWaiting(): Ticket | undefined {
    const { tail } = this.tickets;
    return tail?.isWaiting === true ? tail : undefined;
  }

  append(ticket: Ticket): void {
    this.tickets.append(ticket);
    ticket.lane = this;
  }

  /** Puts it before all who wait. */
  insert(ticket: Ticket): void {
    const { head } = this.tickets;
    const holder = head?.isWaiting === false ? head : undefined;
    if (holder) this.tickets.remove(holder);
    this.tickets.prepend(ticket);
    if (holder) this.tickets.prepend(holder);
    ticket.lane = this;
  }

  /** What was dropped since this was asked last. */
  takeDropped(): Dropped | undefined {
    const { dropped } = this;
    this.dropped = undefined;
    return dropped;
  }

  remove(ticket: Ticket): void {
    this.tickets.remove(ticket);
    ticket.lane = undefined;
  }
}
