import { disregard, isEvent, isWaiting, nameOf, stamp, waitFor, type Waiting } from './decision.js';
import { askAgain } from './decisions.js';
import { OperatorError, toErrorInfo } from './errors.js';
import type { NewEvent, TurnEvent } from './events.js';
import type {
  DecideContext,
  Decision,
  DecisionInput,
  Handlers,
  InterceptorSetup,
  OperatorContext,
} from './intercept.js';
import { isSameOne, missingSubstitute } from './replacements.js';
import { later } from './timers.js';
import type { Entrance, TurnLoop } from './turn-loop.js';

interface Step {
  readonly place: number;
  readonly observeAll: ((event: TurnEvent) => unknown) | undefined;
  readonly observe: ((event: TurnEvent) => unknown) | undefined;
  readonly decide: ((event: TurnEvent, context: DecideContext) => DecisionInput) | undefined;
}

/** How to end something that an operator waits for. */
interface Cleanup {
  readonly place: number;
  cancel: () => void;
}

/** Where the events of a segment go, and who hears of a broken operator. */
export interface SegmentOutlet {
  next(event: TurnEvent): void;
  /** The event on which the operator failed goes no further. */
  failed(error: OperatorError, event: TurnEvent | undefined): void;
}

/**
 * Adjacent operators as one: an event walks down a list of handlers instead of through a chain of subscribers.
 *
 * For each type of event the list holds only the operators that have a handler for it, and is made when the type is
 * first seen.
 */
export class Segment implements Entrance {
  readonly #operators: readonly InterceptorSetup[];
  readonly #handlers: Handlers[] = [];
  readonly #loop: TurnLoop;
  readonly #outlet: SegmentOutlet;
  readonly #lists = new Map<string, readonly Step[]>();
  readonly #cleanups = new Set<Cleanup>();
  readonly #context: DecideContext;
  #abort: AbortController | undefined;
  #held = 0;
  #closed = false;
  #isSetUp = false;
  #onSettled: (() => void) | undefined;

  constructor(operators: readonly InterceptorSetup[], loop: TurnLoop, outlet: SegmentOutlet) {
    this.#operators = operators;
    this.#loop = loop;
    this.#outlet = outlet;
    this.#context = new SegmentContext(() => this.#signal());
    for (const [place, operator] of operators.entries()) {
      try {
        this.#handlers.push(operator.setup(this.#operatorContext(place)));
      } catch (error) {
        this.#handlers.push({});
        this.#fail(place, 'failed to set up', error, undefined);
      }
    }
    this.#isSetUp = true;
  }

  /** Takes an event that comes from above. */
  feed(event: TurnEvent): void {
    if (this.#loop.turn === '') this.#loop.turn = event.turn;
    if (this.#loop.busy) this.run(event, 0);
    else this.#loop.push(this, event, 0);
  }

  /** Lets the event pass the handlers from this place on, and out. */
  run(event: TurnEvent, place: number): void {
    if (this.#closed) return;
    const steps = this.#lists.get(event.type) ?? this.#listFor(event.type);
    let current = event;
    for (let index = 0; index < steps.length; index += 1) {
      const step = steps[index] as Step;
      if (step.place < place) continue;
      let answer: DecisionInput;
      try {
        checkObserved(step.observeAll?.(current));
        checkObserved(step.observe?.(current));
        if (step.decide === undefined || current.replayed === true) continue;
        answer = step.decide(current, this.#context);
      } catch (error) {
        this.#fail(step.place, `threw on ${current.type}`, error, current);
        return;
      }
      if (answer === undefined) continue;
      if (isSameType(answer, current) && isSameOne(current, answer)) {
        current = answer;
        continue;
      }
      this.#follow(step.place, current, answer);
      return;
    }
    this.#outlet.next(current);
  }

  /** Calls back once no event is held or waits its turn any more. */
  whenSettled(callback: () => void): void {
    this.#onSettled = callback;
    if (this.#held === 0) this.#settled();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#abort?.abort();
    for (const { place, cancel } of this.#cleanups) this.#call(place, 'threw when it was given up', cancel);
    this.#cleanups.clear();
    for (const [place, handlers] of this.#handlers.entries()) {
      this.#call(place, 'threw in finalize', () => handlers.finalize?.(this.#loop.ended));
    }
  }

  /** Does what a handler decided; waits for it where it is yet to come. */
  #follow(place: number, event: TurnEvent, answer: Exclude<DecisionInput, undefined | void>): void {
    if (isWaiting(answer)) {
      this.#hold(place, event, answer);
      return;
    }
    const events = this.#eventsOf(place, event, answer);
    if (events === undefined || !this.#isAnswered(place, event, events)) return;
    for (const next of events) this.run(next, place + 1);
  }

  /** Holds the event, and it alone. What is decided in the same tick leaves in the same tick. */
  #hold(place: number, event: TurnEvent, answer: Waiting): void {
    if (event.type === 'model.delta') {
      disregard(answer);
      this.#fail(
        place,
        'answered model.delta with a promise or an observable; its handlers are synchronous',
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
      this.#call(place, 'threw when it was given up', cleanup.cancel);
      this.#cleanups.delete(cleanup);
      this.#release(then);
    };
    const send = (next: TurnEvent): void => {
      given.push(next);
      if (isInTick) this.run(next, place + 1);
      else this.#loop.push(this, next, place + 1);
    };
    this.#held += 1;
    const cancel = waitFor(answer, {
      next: (decision) => {
        if (this.#closed || isOver) return;
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
    if (isOver || this.#closed) this.#call(place, 'threw when it was given up', cancel);
  }

  /** Whether the turn goes on without this event; if not, the operator has failed. */
  #isAnswered(place: number, event: TurnEvent, events: readonly TurnEvent[]): boolean {
    const missing = missingSubstitute(event, events);
    if (missing !== undefined) this.#fail(place, missing, undefined, event);
    return missing === undefined;
  }

  /** What was decided, as events; once the turn is stopping, another stop is no reason to keep an event back. */
  #eventsOf(place: number, event: TurnEvent, decision: Decision): readonly TurnEvent[] | undefined {
    if (decision === undefined) return [event];
    if (decision === null) return [];
    const list: readonly unknown[] = Array.isArray(decision) ? decision : [decision];
    for (const item of list) {
      if (isEvent(item)) continue;
      this.#fail(place, `answered ${event.type} with ${nameOf(item)}, which is no event`, undefined, event);
      return undefined;
    }
    const events = (list as readonly NewEvent[]).map((next) =>
      isTurningDown(event, next) ? event : stamp(next, event.turn, event.at),
    );
    if (this.#loop.isStopping && events.length > 0 && events.every(({ type }) => type === 'turn.stop')) return [event];
    if (event.type === 'history.append' && !events.some((next) => next.type === event.type && isSameOne(event, next))) {
      this.#loop.hasTakenBack = true;
    }
    return events;
  }

  #release(then: () => void): void {
    this.#held -= 1;
    if (!this.#closed) then();
    if (this.#held === 0) this.#settled();
  }

  /** Says so behind everything that waits its turn. */
  #settled(): void {
    const onSettled = this.#onSettled;
    if (onSettled) this.#loop.whenIdle(() => (this.#held === 0 ? onSettled() : undefined));
  }

  #operatorContext(place: number): OperatorContext {
    const { scheduler } = this.#loop;
    return {
      now: () => scheduler.now(),
      emit: (event) => {
        if (!this.#isSetUp) {
          throw new TypeError(
            'emit() is for handlers, timers and callbacks: while an operator is set up there is no turn to emit into.',
          );
        }
        if (!this.#closed) this.#loop.push(this, stamp(event, this.#loop.turn, scheduler.now()), place + 1);
      },
      askAgain: (request, answered) => askAgain(this.#loop.upToDate(request), answered),
      after: (delayMs, callback) => {
        if (this.#closed) return () => undefined;
        const cleanup = this.#addCleanup(place);
        const cancel = later(scheduler, delayMs, () => {
          this.#cleanups.delete(cleanup);
          this.#loop.during(() => this.#call(place, 'threw in a timer', callback));
        });
        cleanup.cancel = cancel;
        return () => {
          this.#cleanups.delete(cleanup);
          cancel();
        };
      },
    };
  }

  #addCleanup(place: number): Cleanup {
    const cleanup: Cleanup = { place, cancel: () => undefined };
    this.#cleanups.add(cleanup);
    return cleanup;
  }

  #call(place: number, what: string, callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#fail(place, what, error, undefined);
    }
  }

  #signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#closed) this.#abort.abort();
    return this.#abort.signal;
  }

  #listFor(type: string): readonly Step[] {
    const steps: Step[] = [];
    for (let place = 0; place < this.#handlers.length; place += 1) {
      const { observe, decide } = this.#handlers[place] as Handlers;
      const [observeAll, observeOne, decideOne] = [observe?.['*'], lookUp(observe, type), lookUp(decide, type)];
      if (observeAll || observeOne || decideOne) {
        steps.push({ place, observeAll, observe: observeOne, decide: decideOne } as Step);
      }
    }
    this.#lists.set(type, steps);
    return steps;
  }

  #nameOf(place: number): string {
    return (this.#operators[place] as InterceptorSetup).name;
  }

  #fail(place: number, what: string, cause: unknown, event: TurnEvent | undefined): void {
    const name = this.#nameOf(place);
    const detail = cause === undefined ? '' : `: ${toErrorInfo(cause).message}`;
    this.#outlet.failed(
      new OperatorError(name, `${what}${detail}`, cause === undefined ? undefined : { cause }),
      event,
    );
  }
}

/** A class, because an accessor in an object literal makes a hidden class for every object, which outlives its turn by far. */
class SegmentContext implements DecideContext {
  readonly #make: () => AbortSignal;

  constructor(make: () => AbortSignal) {
    this.#make = make;
  }

  get signal(): AbortSignal {
    return this.#make();
  }
}

/** The commonest answer: the event in another form, complete with its envelope. */
const isSameType = (answer: unknown, event: TurnEvent): answer is TurnEvent => {
  const { type, turn, at } = (answer ?? {}) as Partial<TurnEvent>;
  return type === event.type && turn !== undefined && at !== undefined;
};

/**
 * Only the runner's own stops can be answered with `turn.continue`. Any other may have taken the place of what the turn
 * waits for, so that there is nothing to go on with; it stays.
 */
const isTurningDown = (event: TurnEvent, next: NewEvent): boolean =>
  event.type === 'turn.stop' && event.afterStep === undefined && next.type === 'turn.continue';

const lookUp = (table: object | undefined, type: string): unknown =>
  table !== undefined && type !== '*' && Object.hasOwn(table, type) ? table[type as keyof typeof table] : undefined;

/** An observer that is asynchronous would see events out of order, and its rejection would be nobody's. */
const checkObserved = (answer: unknown): void => {
  if (typeof answer !== 'object' || !isWaiting(answer)) return;
  disregard(answer);
  throw new TypeError('an observe handler is synchronous, and this one answered with a promise or an observable');
};
