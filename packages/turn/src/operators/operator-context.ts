import type { NewEvent } from '../contract/events.js';
import type { LazyAbort } from '../lazy-abort.js';
import type { EventQueue } from './event-queue.js';
import type { DecideContext, OperatorContext } from './handlers.js';

/** Emits the events and starts the timers of operators, each at its place in the pipe. */
interface Places {
  emitFrom(place: number, event: NewEvent): void;
  startTimer(place: number, delayMs: number, callback: () => void): () => void;
}

/**
 * What one operator uses. Its functions work without it, and exist only if the operator uses them. They are not cached
 * here: with a cycle from the context to its function and back, V8 promoted ended turns to the old generation, and a
 * turn of one step took twice as long.
 */
export class PlacedContext implements OperatorContext {
  readonly #places: Places;
  readonly #queue: EventQueue;
  readonly #place: number;

  constructor(places: Places, queue: EventQueue, place: number) {
    this.#places = places;
    this.#queue = queue;
    this.#place = place;
  }

  get now(): OperatorContext['now'] {
    return () => this.#queue.scheduler.now();
  }

  get emit(): OperatorContext['emit'] {
    return (event) => this.#places.emitFrom(this.#place, event);
  }

  get after(): OperatorContext['after'] {
    return (delayMs, callback) => this.#places.startTimer(this.#place, delayMs, callback);
  }

  get timeLeft(): OperatorContext['timeLeft'] {
    return () => Math.max(0, this.#queue.deadlineAt - this.#queue.scheduler.now());
  }

  get setDeadline(): OperatorContext['setDeadline'] {
    return (at) => {
      if (typeof at !== 'number' || Number.isNaN(at)) {
        throw new TypeError(`setDeadline() expects milliseconds since 1970 or Infinity; received ${String(at)}.`);
      }
      this.#queue.setDeadline(this, at);
    };
  }
}

/** A class, because an accessor in an object literal creates a hidden class per object, which outlives the turn. */
export class SegmentContext implements DecideContext {
  readonly #abort: LazyAbort;

  constructor(abort: LazyAbort) {
    this.#abort = abort;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
}
