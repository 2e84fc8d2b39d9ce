import { later } from '@h/options';
import { Observable, type Subscriber } from 'rxjs';
import { disregard, isWaiting, stamp, waitFor, type Waiting } from './decision.js';
import {
  checkObserved,
  isRejectedContinue,
  isSameType,
  listOf,
  mayReplace,
  problemWithDecision,
} from './decision-checks.js';
import { OperatorError, toErrorInfo } from '../contract/errors.js';
import type { Entrance, EventQueue } from './event-queue.js';
import type { NewEvent, TurnEnding, TurnEvent, TurnOperator } from '../contract/events.js';
import type { DecideContext, Decision, DecisionInput } from './handlers.js';
import { LazyAbort } from '../lazy-abort.js';
import { PlacedContext, SegmentContext } from './operator-context.js';
import { isSameSubject, missingSubstitute } from './replacements.js';
import type { Decide, Observe, Placed, SegmentPlan } from './segment-plan.js';

/** Cancels a timer or an answer that an operator waits for. */
interface Cleanup {
  readonly place: number;
  cancel: () => void;
}

/** The state of an operator whose setup failed: its handlers are not called. */
const inert = Symbol('inert');

/** Receives the events of a segment. */
export interface SegmentOutlet {
  next(event: TurnEvent): void;
  /** An operator failed; the event on which it failed does not leave. */
  failed(error: OperatorError, event: TurnEvent | undefined): void;
  /** An operator replaced or dropped this event. */
  replaced?(event: TurnEvent): void;
}

/**
 * A run of adjacent interceptors: an event passes a list of the handlers for its type, not a chain of subscribers.
 */
export class Segment implements Entrance {
  readonly #plan: SegmentPlan;
  /** The state of each operator in this turn, {@link inert} if its setup failed. */
  readonly #states: unknown[] = [];
  readonly #queue: EventQueue;
  readonly #outlet: SegmentOutlet;
  #cleanups: Set<Cleanup> | undefined;
  readonly #abort = new LazyAbort();
  readonly #context: DecideContext = new SegmentContext(this.#abort);
  #turn = '';
  #isStopping = false;
  #ending: TurnEnding | undefined;
  #held = 0;
  #isClosed = false;
  #isSetUp = false;
  #onSettled: (() => void) | undefined;

  constructor(plan: SegmentPlan, queue: EventQueue, outlet: SegmentOutlet, turn = '') {
    this.#plan = plan;
    this.#queue = queue;
    this.#outlet = outlet;
    this.#turn = turn;
    for (let place = 0; place < plan.size; place += 1) this.#states.push(this.#setUp(place));
    this.#isSetUp = true;
  }

  #setUp(place: number): unknown {
    try {
      return this.#plan.setUp(place, new PlacedContext(this, this.#queue, place));
    } catch (error) {
      this.#fail(place, 'failed to set up', error, undefined);
      return inert;
    }
  }

  /** Runs the `start` handlers: the turn is live. */
  start(): void {
    for (const { place, handle } of this.#plan.starters) {
      const state = this.#states[place];
      if (state !== inert) this.#queue.during(() => this.#call(place, 'threw in start', () => handle(state)));
    }
  }

  /** Queues an event at the top. */
  feed(event: TurnEvent): void {
    this.#queue.push(this, event, 0);
  }

  /** Accepts an event from a native operator, in the midst of another event as well. */
  receive(event: TurnEvent): void {
    if (this.#turn === '') this.#turn = event.turn;
    if (this.#queue.isBusy) this.run(event, 0);
    else this.feed(event);
  }

  /** Passes the event to the `decide` handlers from this place on, then to the outlet. */
  run(event: TurnEvent, place: number): void {
    if (this.#isClosed) return;
    const deciders = this.#plan.deciders(event.type);
    let current = event;
    for (let index = 0; index < deciders.length; index += 1) {
      const decider = deciders[index] as Placed<Decide>;
      const state = this.#states[decider.place];
      if (decider.place < place || state === inert) continue;
      let answer: DecisionInput;
      let isHeld: boolean;
      try {
        answer = decider.handle(state, current, this.#context);
        if (answer === undefined) continue;
        if (isSameType(answer, current) && isSameSubject(current, answer) && mayReplace(answer, current)) {
          current = answer;
          continue;
        }
        isHeld = isWaiting(answer);
      } catch (error) {
        this.#fail(decider.place, `threw on ${current.type}`, error, current);
        return;
      }
      if (isHeld) this.#hold(decider.place, current, answer as Waiting);
      else this.#follow(decider.place, current, answer as Decision);
      return;
    }
    this.#outlet.next(current);
  }

  /** Passes an event to the `observe` handlers. @returns the first failure */
  observe(event: TurnEvent): OperatorError | undefined {
    if (this.#isClosed) return undefined;
    if (this.#turn === '') this.#turn = event.turn;
    if (event.type === 'turn.stop') this.#isStopping = true;
    else if (event.type === 'turn.end') this.#ending = event;
    const observers = this.#plan.observers(event.type);
    let failure: OperatorError | undefined;
    for (let index = 0; index < observers.length; index += 1) {
      const observer = observers[index] as Placed<Observe>;
      const state = this.#states[observer.place];
      if (state === inert) continue;
      try {
        checkObserved(observer.handle(state, event), event);
      } catch (error) {
        failure ??= this.#errorOf(observer.place, `threw while observing ${event.type}`, error);
      }
    }
    return failure;
  }

  /** Calls back when no event is held or queued. */
  whenSettled(callback: () => void): void {
    this.#onSettled = callback;
    if (this.#held === 0) this.#settled();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#abort.abort();
    for (const { place, cancel } of this.#cleanups ?? []) this.#call(place, 'threw when it was canceled', cancel);
    this.#cleanups = undefined;
    for (const { place, handle } of this.#plan.finalizers) {
      const state = this.#states[place];
      if (state !== inert) this.#call(place, 'threw in finalize', () => handle(state, this.#ending));
    }
  }

  /** Performs a decision. */
  #follow(place: number, event: TurnEvent, answer: Decision): void {
    const events = this.#eventsOf(place, event, answer);
    if (events === undefined || !this.#isAnswered(place, event, events)) return;
    for (const next of events) this.run(next, place + 1);
  }

  /** Holds one event. A decision that settles in the same tick is performed in the same tick. */
  #hold(place: number, event: TurnEvent, answer: Waiting): void {
    if (event.type === 'model.delta') {
      disregard(answer);
      this.#fail(
        place,
        'returned a promise or an observable for model.delta. Handlers of model.delta must be synchronous',
        undefined,
        event,
      );
      return;
    }
    const given: TurnEvent[] = [];
    let [isAnswered, isInTick, isOver] = [false, true, false];
    const cleanup = this.#addCleanup(place);
    const end = (then: () => void): void => {
      if (isOver) return;
      isOver = true;
      this.#call(place, 'threw when it was canceled', cleanup.cancel);
      this.#cleanups?.delete(cleanup);
      this.#release(then);
    };
    const send = (next: TurnEvent): void => {
      given.push(next);
      if (isInTick) this.run(next, place + 1);
      else this.#queue.push(this, next, place + 1);
    };
    this.#held += 1;
    const cancel = waitFor(answer, {
      next: (decision) => {
        if (this.#isClosed || isOver) return;
        isAnswered = true;
        const events = this.#eventsOf(place, event, decision);
        if (events === undefined) end(() => undefined);
        else for (const next of events) send(next);
      },
      error: (error) => end(() => this.#fail(place, `failed on ${event.type}`, error, event)),
      complete: () => end(() => (isAnswered ? void this.#isAnswered(place, event, given) : send(event))),
    });
    isInTick = false;
    cleanup.cancel = cancel;
    if (isOver || this.#isClosed) this.#call(place, 'threw when it was canceled', cancel);
  }

  /** Whether these events may replace that one; if not, the operator fails. */
  #isAnswered(place: number, event: TurnEvent, events: readonly TurnEvent[]): boolean {
    const missing = missingSubstitute(event, events);
    if (missing !== undefined) this.#fail(place, missing, undefined, event);
    return missing === undefined;
  }

  /** Converts a decision to events; returns nothing if it is invalid and the operator has failed. */
  #eventsOf(place: number, event: TurnEvent, decision: Decision): readonly TurnEvent[] | undefined {
    if (decision === undefined) return [event];
    const list = listOf(decision);
    for (const item of list) {
      const problem = problemWithDecision(item, event);
      if (problem === undefined) continue;
      this.#fail(place, `answered ${event.type} with ${problem}`, undefined, event);
      return undefined;
    }
    const events = (list as readonly NewEvent[]).map((next) =>
      isRejectedContinue(event, next) ? event : stamp(next, event.turn, event.at),
    );
    // While the turn is stopping, another stop does not replace an event.
    const isSecondStop = this.#isStopping && events.length > 0 && events.every(({ type }) => type === 'turn.stop');
    if (isSecondStop) return [event];
    if (!events.some((next) => next.type === event.type && isSameSubject(event, next))) this.#outlet.replaced?.(event);
    return events;
  }

  #release(then: () => void): void {
    this.#held -= 1;
    if (!this.#isClosed) then();
    if (this.#held === 0) this.#settled();
  }

  /** Calls back after everything in the queue. */
  #settled(): void {
    const onSettled = this.#onSettled;
    if (onSettled) this.#queue.whenIdle(() => (this.#held === 0 ? onSettled() : undefined));
  }

  /** Emits an event of an operator into the events behind it. */
  emitFrom(place: number, event: NewEvent): void {
    if (!this.#isSetUp) {
      throw new TypeError('emit() was called in the setup function. Call it in handlers, timers and callbacks.');
    }
    if (this.#isClosed) return;
    const problem = problemWithDecision(event, undefined);
    if (problem === undefined) this.#queue.push(this, stamp(event, this.#turn, this.#queue.scheduler.now()), place + 1);
    else this.#fail(place, `emitted ${problem}`, undefined, undefined);
  }

  /** Starts a timer of an operator. @returns a function that cancels it */
  startTimer(place: number, delayMs: number, callback: () => void): () => void {
    if (this.#isClosed) return () => undefined;
    const cleanup = this.#addCleanup(place);
    const cancel = later(this.#queue.scheduler, delayMs, () => {
      this.#cleanups?.delete(cleanup);
      this.#queue.during(() => this.#call(place, 'threw in a timer', callback));
    });
    cleanup.cancel = cancel;
    return () => {
      this.#cleanups?.delete(cleanup);
      cancel();
    };
  }

  #addCleanup(place: number): Cleanup {
    const cleanup: Cleanup = { place, cancel: () => undefined };
    this.#cleanups ??= new Set();
    this.#cleanups.add(cleanup);
    return cleanup;
  }

  /**
   * Calls a function of an operator that must be synchronous; a promise that rejects fails the operator all the same.
   */
  #call(place: number, what: string, callback: () => unknown): void {
    try {
      const result = callback();
      if (isWaiting(result) && 'then' in result) {
        result.then(undefined, (error: unknown) => this.#fail(place, what, error, undefined));
      }
    } catch (error) {
      this.#fail(place, what, error, undefined);
    }
  }

  #fail(place: number, what: string, cause: unknown, event: TurnEvent | undefined): void {
    this.#outlet.failed(this.#errorOf(place, what, cause), event);
  }

  #errorOf(place: number, what: string, cause: unknown): OperatorError {
    const name = this.#plan.nameOf(place);
    const detail = cause === undefined ? '' : `: ${toErrorInfo(cause).message}`;
    return new OperatorError(name, `${what}${detail}`, cause === undefined ? undefined : { cause });
  }
}

/** Makes a native operator that creates a segment for each subscriber. */
export const segmentOperator =
  (create: (subscriber: Subscriber<TurnEvent>) => Segment): TurnOperator =>
  (source) =>
    new Observable((subscriber) => {
      const segment = create(subscriber);
      subscriber.add(() => segment.close());
      if (subscriber.closed) return;
      subscriber.add(
        source.subscribe({
          next: (event) => segment.receive(event),
          error: (error: unknown) => subscriber.error(error),
          complete: () => segment.whenSettled(() => subscriber.complete()),
        }),
      );
    });
