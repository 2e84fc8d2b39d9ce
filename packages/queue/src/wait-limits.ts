import type { SchedulerLike } from 'rxjs';
import { Alarm } from './clock.js';
import { LaneError } from './errors.js';
import { Heap } from './heap.js';
import type { Ticket } from './ticket.js';

/** Sends those away who may not wait for ever, with one timer for all. */
export class WaitLimits {
  readonly #scheduler: SchedulerLike;
  readonly #alarm: Alarm;
  readonly #waiting = new Heap<Ticket>((left, right) => endOf(left) < endOf(right));

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#alarm = new Alarm(scheduler, () => this.#ring());
  }

  add(ticket: Ticket): void {
    if (ticket.limits.maxWaitMs === Infinity) return;
    this.#waiting.add(ticket);
    this.#alarm.setFor(endOf(ticket));
  }

  remove(ticket: Ticket): void {
    if (ticket.heapIndex < 0) return;
    this.#waiting.remove(ticket);
    ticket.heapIndex = -1;
    if (!this.#waiting.top) this.#alarm.clear();
  }

  #ring(): void {
    const now = this.#scheduler.now();
    for (let ticket = this.#waiting.top; ticket && endOf(ticket) <= now; ticket = this.#waiting.top) {
      this.remove(ticket);
      const { session, limits } = ticket;
      const text = `No place in session ${JSON.stringify(session)} was free within ${limits.maxWaitMs} ms (maxWaitMs).`;
      ticket.abort(new LaneError('lane-waited-too-long', session, text));
    }
    const { top } = this.#waiting;
    if (top) this.#alarm.setFor(endOf(top));
  }
}

const endOf = ({ queuedAt, limits }: Ticket): number => queuedAt + limits.maxWaitMs;
