import type { SchedulerLike } from 'rxjs';
import { Alarm } from './clock.js';
import { LaneError } from '../errors.js';
import { Heap } from './heap.js';
import type { Waiter } from './waiter.js';

/** Rejects requests that have waited for `maxWaitMs`; all requests share one timer. */
export class WaitLimits {
  readonly #scheduler: SchedulerLike;
  readonly #alarm: Alarm;
  readonly #waiting = new Heap<Waiter>((left, right) => endOf(left) < endOf(right));

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler;
    this.#alarm = new Alarm(scheduler, () => this.#ring());
  }

  add(waiter: Waiter): void {
    if (waiter.limits.maxWaitMs === Infinity) return;
    this.#waiting.add(waiter);
    this.#alarm.setFor(endOf(waiter));
  }

  remove(waiter: Waiter): void {
    if (waiter.heapIndex < 0) return;
    this.#waiting.remove(waiter);
    waiter.heapIndex = -1;
    if (!this.#waiting.top) this.#alarm.clear();
  }

  #ring(): void {
    const now = this.#scheduler.now();
    for (let waiter = this.#waiting.top; waiter && endOf(waiter) <= now; waiter = this.#waiting.top) {
      this.remove(waiter);
      const { session, limits } = waiter;
      const text = `No slot was free for session ${JSON.stringify(session)} within ${limits.maxWaitMs} ms (maxWaitMs).`;
      waiter.abort(new LaneError('lane-waited-too-long', session, text));
    }
    const { top } = this.#waiting;
    if (top) this.#alarm.setFor(endOf(top));
  }
}

const endOf = ({ queuedAt, limits }: Waiter): number => queuedAt + limits.maxWaitMs;
