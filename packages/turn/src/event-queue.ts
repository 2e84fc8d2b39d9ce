import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { TurnEvent } from './events.js';

/** A place at which events enter a pipeline: its top, or behind one of its operators. */
export interface Entrance {
  run(event: TurnEvent, place: number): void;
}

/**
 * The queue of one turn: one event at a time, first in, first out.
 *
 * Everything that happens while an event is on its way (a fact from a driver, a timer, a settled promise) waits until that
 * event has left.
 */
export class EventQueue {
  readonly scheduler: SchedulerLike;
  readonly #waiting: { entrance: Entrance; event: TurnEvent; place: number }[] = [];
  readonly #onIdle: (() => void)[] = [];
  #isBusy = false;
  /** The time at which the current burst of events was first asked for the time. */
  #burstTime: number | undefined;

  constructor(scheduler: SchedulerLike = asyncScheduler) {
    this.scheduler = scheduler;
  }

  /** Whether an event is on its way. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** The time in milliseconds since 1970; the same for everything that happens in one burst of events. */
  now(): number {
    if (!this.#isBusy) return this.scheduler.now();
    this.#burstTime ??= this.scheduler.now();
    return this.#burstTime;
  }

  /** Lets the event enter as soon as every event before it has left. */
  push(entrance: Entrance, event: TurnEvent, place: number): void {
    if (this.#isBusy) {
      this.#waiting.push({ entrance, event, place });
      return;
    }
    this.#isBusy = true;
    try {
      entrance.run(event, place);
      this.#drain();
    } finally {
      this.#rest();
    }
  }

  /** Runs an action as if it were an event: what it pushes enters after it. */
  during(action: () => void): void {
    if (this.#isBusy) {
      action();
      return;
    }
    this.#isBusy = true;
    try {
      action();
      this.#drain();
    } finally {
      this.#rest();
    }
  }

  /** Calls back once no event is on its way and none waits. */
  whenIdle(callback: () => void): void {
    if (this.#isBusy) this.#onIdle.push(callback);
    else callback();
  }

  #drain(): void {
    for (const next of this.#waiting) next.entrance.run(next.event, next.place);
  }

  #rest(): void {
    if (this.#waiting.length > 0) this.#waiting.length = 0;
    this.#isBusy = false;
    this.#burstTime = undefined;
    if (this.#onIdle.length > 0) for (const callback of this.#onIdle.splice(0)) callback();
  }
}
