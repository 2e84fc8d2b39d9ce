import type { SchedulerLike } from 'rxjs';
import type { Callbacks } from './callbacks.js';
import { Alarm } from './clock.js';
import type { WaitingNotice } from '../contract.js';
import type { Keeper } from './keeper.js';
import type { Waiter } from './waiter.js';

/**
 * Notifies waiting requests of their position: immediately, and periodically when it has changed.
 *
 * All positions are computed in one pass, so that the cost does not depend on how often requests are admitted.
 */
export class Notices {
  readonly #keeper: Keeper;
  readonly #everyMs: number;
  readonly #callbacks: Callbacks;
  readonly #alarm: Alarm;
  readonly #listening = new Set<Waiter>();

  constructor(keeper: Keeper, scheduler: SchedulerLike, everyMs: number, callbacks: Callbacks) {
    this.#keeper = keeper;
    this.#everyMs = everyMs;
    this.#callbacks = callbacks;
    this.#alarm = new Alarm(scheduler, () => this.#notifyAll());
  }

  add(waiter: Waiter): void {
    this.#listening.add(waiter);
    if (this.#everyMs !== Infinity) this.#alarm.setFor(this.#keeper.now() + this.#everyMs);
    const { entry } = waiter;
    const { gate, lanes } = this.#keeper;
    // Its position is the last one, apart from less urgent requests at the gate.
    const position =
      waiter.state === 'at-gate' && entry ? gate.inFrontOf(entry) + 1 : (lanes.get(waiter.session)?.waitingCount ?? 0);
    this.#inform(waiter, position);
  }

  remove(waiter: Waiter): void {
    if (this.#listening.delete(waiter) && this.#listening.size === 0) this.#alarm.clear();
  }

  #notifyAll(): void {
    this.#alarm.setFor(this.#keeper.now() + this.#everyMs);
    const atGate = new Map(this.#keeper.gate.inOrder().map((entry, index) => [entry.owner, index + 1]));
    const positions = new Map([...this.#listening].map((waiter) => [waiter, atGate.get(waiter) ?? 0]));
    for (const session of new Set([...this.#listening].map((waiter) => waiter.session))) {
      let position = 0;
      for (const waiter of this.#keeper.lanes.get(session)?.waiters ?? []) {
        if (!waiter.isWaiting) continue;
        position += 1;
        if (waiter.state === 'behind' && positions.has(waiter)) positions.set(waiter, position);
      }
    }
    for (const [waiter, position] of positions) if (waiter.isWaiting) this.#inform(waiter, position);
  }

  #inform(waiter: Waiter, position: number): void {
    const isBehind = waiter.state === 'behind';
    const shown = isBehind ? position : -position;
    if (shown === waiter.notifiedPosition) return;
    waiter.notifiedPosition = shown;
    const group = isBehind || !waiter.entry ? undefined : this.#keeper.gate.heldBackBy(waiter.entry);
    this.#callbacks.call(waiter, notifyWaiting, {
      session: waiter.session,
      for: isBehind ? 'session' : 'slot',
      position,
      waitedMs: this.#keeper.now() - waiter.queuedAt,
      ...(group && { group: `${group.kind}:${group.key}` }),
    });
  }
}

const notifyWaiting = ({ listener }: Waiter, notice: WaitingNotice): void => listener.waiting?.(notice);
