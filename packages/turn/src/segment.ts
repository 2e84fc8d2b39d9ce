import { disregard, isWaiting, stamp, waitFor, type Waiting } from './decision.js';
import { OperatorError, toErrorInfo } from './errors.js';
import { invalidMember } from './event-checks.js';
import { problemWith } from './event-shape.js';
import type { Entrance, EventQueue } from './event-queue.js';
import type { NewEvent, TurnEnding, TurnEvent } from './events.js';
import type {
  DecideContext,
  Decision,
  DecisionInput,
  Handlers,
  InterceptorSetup,
  OperatorContext,
} from './handlers.js';
import { LazyAbort } from './lazy-abort.js';
import { isSameSubject, missingSubstitute } from './replacements.js';
import { later } from './timers.js';

type Decide = (event: TurnEvent, context: DecideContext) => DecisionInput;
type Observe = (event: TurnEvent) => unknown;

/** A handler and the place of its operator in the segment. */
interface Placed<Handler> {
  readonly place: number;
  readonly handle: Handler;
}

/** Cancels a timer or an answer that an operator waits for. */
interface Cleanup {
  readonly place: number;
  cancel: () => void;
}

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
  readonly #operators: readonly InterceptorSetup[];
  readonly #handlers: readonly Handlers[];
  readonly #queue: EventQueue;
  readonly #outlet: SegmentOutlet;
  readonly #deciders: HandlerTable<Decide>;
  readonly #observers: HandlerTable<Observe>;
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

  constructor(operators: readonly InterceptorSetup[], queue: EventQueue, outlet: SegmentOutlet, turn = '') {
    this.#operators = operators;
    this.#queue = queue;
    this.#outlet = outlet;
    this.#turn = turn;
    this.#handlers = operators.map(({ setup }, place) => this.#setUp(place, setup));
    this.#deciders = new HandlerTable(tablesOf(this.#handlers, 'decide'), decidersIn);
    this.#observers = new HandlerTable(tablesOf(this.#handlers, 'observe'), observersIn);
    this.#isSetUp = true;
  }

  #setUp(place: number, setup: InterceptorSetup['setup']): Handlers {
    try {
      // Destructured here, where it fails the operator: the value may be a revoked proxy, or no object at all.
      const { observe, decide, start, finalize } = setup(new PlacedContext(this, this.#queue, place));
      return { observe, decide, start, finalize };
    } catch (error) {
      this.#fail(place, 'failed to set up', error, undefined);
      return {};
    }
  }

  /** Runs the `start` handlers: the turn is live. */
  start(): void {
    for (const [place, { start }] of this.#handlers.entries()) {
      if (start) this.#queue.during(() => this.#call(place, 'threw in start', start));
    }
  }

  /** Accepts an event from above. */
  feed(event: TurnEvent): void {
    if (this.#turn === '') this.#turn = event.turn;
    if (this.#queue.isBusy) this.run(event, 0);
    else this.#queue.push(this, event, 0);
  }

  /** Passes the event to the `decide` handlers from this place on, then to the outlet. */
  run(event: TurnEvent, place: number): void {
    if (this.#isClosed) return;
    const deciders = this.#deciders.of(event.type);
    let current = event;
    for (let index = 0; index < deciders.length; index += 1) {
      const decider = deciders[index] as Placed<Decide>;
      if (decider.place < place) continue;
      let answer: DecisionInput;
      let isHeld: boolean;
      try {
        answer = decider.handle(current, this.#context);
        if (answer === undefined) continue;
        if (
          isSameType(answer, current) &&
          isSameSubject(current, answer) &&
          invalidMember(answer, current) === undefined
        ) {
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
    const observers = this.#observers.of(event.type);
    let failure: OperatorError | undefined;
    for (let index = 0; index < observers.length; index += 1) {
      const observer = observers[index] as Placed<Observe>;
      try {
        checkObserved(observer.handle(event));
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
    for (const [place, { finalize }] of this.#handlers.entries()) {
      if (finalize) this.#call(place, 'threw in finalize', () => finalize(this.#ending));
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

  /** Calls a function of an operator that must be synchronous; a promise that rejects fails the operator all the same. */
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
    const { name } = this.#operators[place] as InterceptorSetup;
    const detail = cause === undefined ? '' : `: ${toErrorInfo(cause).message}`;
    return new OperatorError(name, `${what}${detail}`, cause === undefined ? undefined : { cause });
  }
}

/**
 * What one operator uses. Its functions work without it, and exist only if the operator uses them. They are not cached
 * here: with a cycle from the context to its function and back, V8 promoted ended turns to the old generation, and a
 * turn of one step took twice as long.
 */
class PlacedContext implements OperatorContext {
  readonly #segment: Segment;
  readonly #queue: EventQueue;
  readonly #place: number;

  constructor(segment: Segment, queue: EventQueue, place: number) {
    this.#segment = segment;
    this.#queue = queue;
    this.#place = place;
  }

  get now(): OperatorContext['now'] {
    return () => this.#queue.scheduler.now();
  }

  get emit(): OperatorContext['emit'] {
    return (event) => this.#segment.emitFrom(this.#place, event);
  }

  get after(): OperatorContext['after'] {
    return (delayMs, callback) => this.#segment.startTimer(this.#place, delayMs, callback);
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
class SegmentContext implements DecideContext {
  readonly #abort: LazyAbort;

  constructor(abort: LazyAbort) {
    this.#abort = abort;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
}

/** The events of a decision. A revoked proxy is one value, which is not an event. */
const listOf = (decision: Decision): readonly unknown[] => {
  if (decision === null || decision === undefined) return [];
  try {
    return Array.isArray(decision) ? (decision as readonly unknown[]) : [decision];
  } catch {
    return [decision];
  }
};

/** Whether the decision is the event in another form with its envelope, the most common case. */
const isSameType = (answer: unknown, event: TurnEvent): answer is TurnEvent => {
  const { type, turn, at } = (answer ?? {}) as Partial<TurnEvent>;
  return type === event.type && turn !== undefined && at !== undefined;
};

/** Explains why an operator may not emit this; returns nothing if it may. */
const problemWithDecision = (item: unknown, event: TurnEvent | undefined): string | undefined => {
  const problem = problemWith(item) ?? problemWithMembers(item as NewEvent, event);
  if (problem !== undefined) return problem;
  const isEnd = (item as NewEvent).type === 'turn.end' && event?.type !== 'turn.end';
  return isEnd ? 'turn.end, which only the runner emits; return stop() to end the turn' : undefined;
};

const problemWithMembers = (item: NewEvent, event: TurnEvent | undefined): string | undefined => {
  try {
    const name = invalidMember(item, event?.type === item.type ? event : undefined);
    return name === undefined ? undefined : `a ${item.type} whose "${name}" is missing or invalid`;
  } catch {
    return `a ${item.type} with a value that throws when it is read`;
  }
};

/**
 * Only the runner's own stops can be answered with `turn.continue`. Any other stop may have replaced an event that
 * the turn waits for, so the turn could not continue.
 */
const isRejectedContinue = (event: TurnEvent, next: NewEvent): boolean =>
  event.type === 'turn.stop' && event.afterStep === undefined && next.type === 'turn.continue';

type Table<Handler> = Readonly<Record<string, Handler | undefined>>;
type Select<Handler> = (table: Table<Handler>, type: string) => readonly (Handler | undefined)[];

const none: readonly never[] = [];

/** The handlers of each type of event, listed when the first event of the type arrives. */
class HandlerTable<Handler> {
  readonly #tables: readonly (Table<Handler> | undefined)[];
  readonly #select: Select<Handler>;
  readonly #byType = new Map<string, readonly Placed<Handler>[]>();

  constructor(tables: readonly (Table<Handler> | undefined)[], select: Select<Handler>) {
    this.#tables = tables;
    this.#select = select;
  }

  of(type: string): readonly Placed<Handler>[] {
    return this.#byType.get(type) ?? this.#list(type);
  }

  #list(type: string): readonly Placed<Handler>[] {
    const placed: Placed<Handler>[] = [];
    for (const [place, table] of this.#tables.entries()) {
      if (table === undefined) continue;
      for (const handle of this.#select(table, type)) if (handle) placed.push({ place, handle });
    }
    // A list that grew has room for 16 more handlers, in each turn and for each type.
    const fitted = placed.length === 0 ? none : placed.slice();
    this.#byType.set(type, fitted);
    return fitted;
  }
}

const tablesOf = <Handler>(
  operators: readonly Handlers[],
  kind: 'decide' | 'observe',
): readonly (Table<Handler> | undefined)[] => operators.map((handlers) => handlers[kind] as Table<Handler> | undefined);

/** `*` decides about the types for which the operator has no handler. */
const decidersIn: Select<Decide> = (table, type) => [ownHandler(table, type) ?? ownHandler(table, '*')];

/** `*` observes every type, before the handler of the type. */
const observersIn: Select<Observe> = (table, type) => [ownHandler(table, '*'), ownHandler(table, type)];

const ownHandler = <Handler>(table: Table<Handler>, type: string): Handler | undefined =>
  Object.hasOwn(table, type) ? table[type] : undefined;

/** Rejects asynchronous observers: they would see events out of order, and their rejections would be unhandled. */
const checkObserved = (answer: unknown): void => {
  if (typeof answer !== 'object' || !isWaiting(answer)) return;
  disregard(answer);
  throw new TypeError('the observe handler returned a promise or an observable. Make it synchronous');
};
