import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { TurnEvent } from '../contract/events.js';

/** Where events enter a pipeline: at its top, or behind one of its operators. */
export interface Entrance {
  run(event: TurnEvent, place: number): void;
}

/**
 * The queue and the clock of one turn: processes one event at a time, first in, first out.
 *
 * Events that arrive while another one is processed (from a driver, a timer, a settled promise) wait until that one
 * has left.
 */
export class EventQueue {
  readonly scheduler: SchedulerLike;
  readonly #waiting: { entrance: Entrance; event: TurnEvent; place: number }[] = [];
  readonly #onIdle: (() => void)[] = [];
  #isBusy = false;
  /** The time of the current burst of events, read at most once. */
  #burstTime: number | undefined;
  /** When each operator that has announced it will end the turn, in milliseconds since 1970. */
  #deadlines: Map<object, number> | undefined;

  constructor(scheduler: SchedulerLike = asyncScheduler) {
    this.scheduler = scheduler;
  }

  /** Whether an event is being processed. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** The time in milliseconds since 1970; the same for all events of one burst. */
  now(): number {
    if (!this.#isBusy) return this.scheduler.now();
    this.#burstTime ??= this.scheduler.now();
    return this.#burstTime;
  }

  /** The earliest deadline that an operator has set, in milliseconds since 1970; `Infinity` without one. */
  get deadlineAt(): number {
    let earliest = Infinity;
    if (this.#deadlines) for (const at of this.#deadlines.values()) earliest = Math.min(earliest, at);
    return earliest;
  }

  setDeadline(operator: object, at: number): void {
    this.#deadlines ??= new Map();
    this.#deadlines.set(operator, at);
  }

  /** Processes the event after all events before it have left. */
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

  /** Runs an action as part of the queue: events that it pushes are processed after it. */
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

  /** Calls back when no event is being processed or waiting. */
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
