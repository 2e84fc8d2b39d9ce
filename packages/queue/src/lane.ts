import type { Dropped } from './contract.js';
import type { TurnPriority } from '@h/turn';
import { LinkedList } from './linked-list.js';
import { highestOf, noCounts, type PriorityCounts } from './priority.js';
import type { Ticket } from './ticket.js';

/** One session: those who want a place in it, in the order in which they came. The first one holds it. */
export class Lane {
  readonly session: string;
  readonly tickets = new LinkedList<Ticket>();
  dropped: Dropped | undefined;
  readonly #counts: PriorityCounts = noCounts();
  readonly #announced: () => PriorityCounts | undefined;

  /** @param announced what waits for the session elsewhere, by priority */
  constructor(session: string, announced: () => PriorityCounts | undefined) {
    this.session = session;
    this.#announced = announced;
  }

  /** That of the most urgent in it or announced for it: whoever is first holds up the others. */
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
    this.#counts[ticket.priority] += 1;
    ticket.lane = this;
  }

  /** Puts it before all who wait. */
  insert(ticket: Ticket): void {
    const { head } = this.tickets;
    const holder = head?.isWaiting === false ? head : undefined;
    if (holder) this.tickets.remove(holder);
    this.tickets.prepend(ticket);
    if (holder) this.tickets.prepend(holder);
    this.#counts[ticket.priority] += 1;
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
    this.#counts[ticket.priority] -= 1;
    ticket.lane = undefined;
  }
}

const none = noCounts();
