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
    const { head, second } = this.tickets;
    return head?.isWaiting === true ? head : second;
  }

  get newestWaiting(): Ticket | undefined {
    const { tail } = this.tickets;
    return tail?.isWaiting === true ? tail : undefined;
  }

  append(ticket: Ticket): void {
    Object.assign(ticket, { lane: this, node: this.tickets.append(ticket) });
  }

  /** Puts it before all who wait. */
  insert(ticket: Ticket): void {
    const { head } = this.tickets;
    const holder = head?.isWaiting === false ? head : undefined;
    if (holder?.node) this.tickets.remove(holder.node);
    Object.assign(ticket, { lane: this, node: this.tickets.prepend(ticket) });
    if (holder) holder.node = this.tickets.prepend(holder);
  }

  remove(ticket: Ticket): void {
    if (ticket.node) this.tickets.remove(ticket.node);
    Object.assign(ticket, { lane: undefined, node: undefined });
  }
}
