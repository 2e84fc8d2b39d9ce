import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { TurnEnding, TurnEvent, TurnEventOf } from './events.js';
import type { MessageList } from './message-list.js';

/** Something that events enter: the top of a pipeline, or a place inside a segment of it. */
export interface Entrance {
  run(event: TurnEvent, place: number): void;
}

/**
 * The queue of one turn: one event at a time, in the order in which they came.
 *
 * Whatever happens while an event is on its way (a fact that the runner feeds, a timer, a promise that is kept)
 * waits until that event has left.
 */
export class TurnLoop {
  /** Id of the turn, for events that are made inside it. */
  turn = '';
  /** A `turn.stop` has been performed: another one changes nothing. */
  isStopping = false;
  /** An operator has put something else in the place of what the runner asked to append. */
  hasTakenBack = false;
  /** The history as it is now, where a runner knows it. */
  history: MessageList | undefined;
  /** The history as it was when the runner asked for the request of this step. */
  asked: MessageList | undefined;
  /** How the turn has ended. */
  ended: TurnEnding | undefined;
  readonly scheduler: SchedulerLike;
  readonly #waiting: { entrance: Entrance; event: TurnEvent; place: number }[] = [];
  readonly #whenIdle: (() => void)[] = [];
  #busy = false;
  /** What the clock said when it was first looked at since events are on their way; all of them happen at once. */
  #at: number | undefined;

  constructor(scheduler: SchedulerLike = asyncScheduler) {
    this.scheduler = scheduler;
  }

  /** Whether an event is on its way. */
  get busy(): boolean {
    return this.#busy;
  }

  /** The time, in milliseconds since 1970: one and the same while events are on their way. */
  now(): number {
    if (!this.#busy) return this.scheduler.now();
    this.#at ??= this.scheduler.now();
    return this.#at;
  }

  /** A request of this step with the history as it is now, unless an operator gave it another one. */
  upToDate(request: TurnEventOf<'model.request'>): TurnEventOf<'model.request'> {
    const { asked, history } = this;
    if (history === undefined || history === asked || request.messages !== asked) return request;
    return { ...request, messages: history };
  }

  /** Lets the event enter at this place as soon as its turn has come. */
  push(entrance: Entrance, event: TurnEvent, place: number): void {
    if (this.#busy) {
      this.#waiting.push({ entrance, event, place });
      return;
    }
    this.#busy = true;
    try {
      entrance.run(event, place);
      for (const next of this.#waiting) next.entrance.run(next.event, next.place);
    } finally {
      this.#rest();
    }
  }

  /** Does something as if it were an event: what it pushes comes after it, in the order in which it pushes. */
  during(action: () => void): void {
    if (this.#busy) {
      action();
      return;
    }
    this.#busy = true;
    try {
      action();
      for (const next of this.#waiting) next.entrance.run(next.event, next.place);
    } finally {
      this.#rest();
    }
  }

  /** Calls back once no event is on its way and none waits. */
  whenIdle(callback: () => void): void {
    if (this.#busy) this.#whenIdle.push(callback);
    else callback();
  }

  #rest(): void {
    if (this.#waiting.length > 0) this.#waiting.length = 0;
    this.#busy = false;
    this.#at = undefined;
    if (this.#whenIdle.length > 0) for (const callback of this.#whenIdle.splice(0)) callback();
  }
}
