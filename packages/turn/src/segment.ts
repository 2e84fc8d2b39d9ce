import type { Subscription } from 'rxjs';
import { OperatorError, toErrorInfo } from './errors.js';
import type { NewEvent, TurnEvent } from './events.js';
import type { DecideContext, Decision, DecisionInput, Handlers, InterceptorSetup, OperatorContext } from './intercept.js';
import { substitutesOf } from './replacements.js';
import type { Entrance, TurnLoop } from './turn-loop.js';

interface Step {
  readonly place: number;
  readonly observeAll: ((event: TurnEvent) => void) | undefined;
  readonly observe: ((event: TurnEvent) => void) | undefined;
  readonly decide: ((event: TurnEvent, context: DecideContext) => DecisionInput) | undefined;
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
  readonly #cleanups = new Set<() => void>();
  readonly #context: DecideContext;
  #abort: AbortController | undefined;
  #held = 0;
  #closed = false;
  #onSettled: (() => void) | undefined;

  constructor(operators: readonly InterceptorSetup[], loop: TurnLoop, outlet: SegmentOutlet) {
    this.#operators = operators;
    this.#loop = loop;
    this.#outlet = outlet;
    const signal = (): AbortSignal => this.#signal();
    this.#context = {
      get signal() {
        return signal();
      },
    };
    for (const [place, operator] of operators.entries()) {
      try {
        this.#handlers.push(operator.setup(this.#operatorContext(place)));
      } catch (error) {
        this.#handlers.push({});
        this.#fail(place, 'failed to set up', error, undefined);
      }
    }
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
        step.observeAll?.(current);
        step.observe?.(current);
        if (step.decide === undefined || current.replayed === true) continue;
        answer = step.decide(current, this.#context);
      } catch (error) {
        this.#fail(step.place, `threw on ${current.type}`, error, current);
        return;
      }
      if (answer === undefined) continue;
      if (isSameType(answer, current)) {
        current = answer;
        continue;
      }
      this.#follow(step.place, current, answer);
      return;
    }
    this.#outlet.next(current);
  }

  /** Calls back once no event is held any more. */
  whenSettled(callback: () => void): void {
    if (this.#held === 0) callback();
    else this.#onSettled = callback;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#abort?.abort();
    for (const cleanup of this.#cleanups) cleanup();
    this.#cleanups.clear();
    for (const [place, handlers] of this.#handlers.entries()) {
      try {
        handlers.finalize?.();
      } catch (error) {
        this.#outlet.failed(new OperatorError(this.#nameOf(place), 'threw in finalize', { cause: error }), undefined);
      }
    }
  }

  #follow(place: number, event: TurnEvent, answer: Exclude<DecisionInput, undefined | void>): void {
    if (answer === null || typeof answer !== 'object') {
      this.#settle(place, event, answer, true);
    } else if ('then' in answer) {
      this.#holdPromise(place, event, answer);
    } else if ('subscribe' in answer) {
      this.#holdObservable(place, event, answer);
    } else {
      this.#settle(place, event, answer, true);
    }
  }

  /** Sends on what a handler decided: at once while its event is on its way, else through the queue. */
  #settle(place: number, event: TurnEvent, decision: Decision, inline: boolean): void {
    const events = this.#eventsOf(place, event, decision);
    if (events === undefined) return;
    const missing = this.#missingSubstitute(event, events);
    if (missing !== undefined) this.#fail(place, missing, undefined, event);
    else for (const next of events) this.#send(place, next, inline);
  }

  #send(place: number, event: TurnEvent, inline: boolean): void {
    if (inline) this.run(event, place + 1);
    else this.#loop.push(this, event, place + 1);
  }

  #missingSubstitute(event: TurnEvent, events: readonly TurnEvent[]): string | undefined {
    const allowed = substitutesOf(event.type);
    if (allowed === undefined || events.some((next) => allowed.includes(next.type))) return undefined;
    return `removed ${event.type}, which the turn waits for; put one of ${allowed.join(', ')} in its place`;
  }

  #eventsOf(place: number, event: TurnEvent, decision: Decision): readonly TurnEvent[] | undefined {
    if (decision === undefined) return [event];
    if (decision === null) return [];
    const list: readonly unknown[] = Array.isArray(decision) ? decision : [decision];
    for (const item of list) {
      if (isEvent(item)) continue;
      this.#fail(place, `answered ${event.type} with ${nameOf(item)}, which is no event`, undefined, event);
      return undefined;
    }
    return (list as readonly NewEvent[]).map((next) => this.#stamp(next, event.at));
  }

  #holdPromise(place: number, event: TurnEvent, answer: PromiseLike<Decision>): void {
    if (!this.#mayHold(place, event)) return;
    this.#held += 1;
    answer.then(
      (decision) => this.#release(() => this.#settle(place, event, decision, false)),
      (error: unknown) => this.#release(() => this.#fail(place, `rejected on ${event.type}`, error, event)),
    );
  }

  #holdObservable(place: number, event: TurnEvent, answer: { subscribe: unknown }): void {
    if (!this.#mayHold(place, event)) return;
    this.#held += 1;
    const given: TurnEvent[] = [];
    let done = false;
    const finish = (then: () => void): void => {
      done = true;
      this.#cleanups.delete(unsubscribe);
      this.#release(then);
    };
    const source = answer as { subscribe(observer: object): Subscription };
    const subscription = source.subscribe({
      next: (decision: Decision) => {
        if (this.#closed) return;
        const events = this.#eventsOf(place, event, decision);
        for (const next of events ?? []) {
          given.push(next);
          this.#loop.push(this, next, place + 1);
        }
      },
      error: (error: unknown) => finish(() => this.#fail(place, `failed on ${event.type}`, error, event)),
      complete: () =>
        finish(() => {
          const missing = given.length === 0 ? undefined : this.#missingSubstitute(event, given);
          if (missing !== undefined) this.#fail(place, missing, undefined, event);
          else if (given.length === 0) this.#loop.push(this, event, place + 1);
        }),
    });
    const unsubscribe = (): void => subscription.unsubscribe();
    if (!done) this.#cleanups.add(unsubscribe);
    if (this.#closed) unsubscribe();
  }

  #mayHold(place: number, event: TurnEvent): boolean {
    if (event.type !== 'model.delta') return true;
    this.#fail(place, 'answered model.delta with a promise or an observable; its handlers are synchronous', undefined, event);
    return false;
  }

  #release(then: () => void): void {
    this.#held -= 1;
    if (!this.#closed) then();
    if (this.#held > 0) return;
    const onSettled = this.#onSettled;
    this.#onSettled = undefined;
    onSettled?.();
  }

  #operatorContext(place: number): OperatorContext {
    const { scheduler } = this.#loop;
    return {
      now: () => scheduler.now(),
      emit: (event) => {
        if (!this.#closed) this.#loop.push(this, this.#stamp(event, scheduler.now()), place + 1);
      },
      after: (delayMs, callback) => {
        if (this.#closed) return () => undefined;
        const timer = scheduler.schedule(() => {
          this.#cleanups.delete(cancel);
          try {
            callback();
          } catch (error) {
            this.#fail(place, 'threw in a timer', error, undefined);
          }
        }, delayMs);
        const cancel = (): void => {
          this.#cleanups.delete(cancel);
          timer.unsubscribe();
        };
        this.#cleanups.add(cancel);
        return cancel;
      },
    };
  }

  #stamp(event: NewEvent, at: number): TurnEvent {
    const isComplete = event.turn !== undefined && event.at !== undefined;
    return (isComplete ? event : { turn: this.#loop.turn, at, ...event }) as TurnEvent;
  }

  #signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.#closed) this.#abort.abort();
    return this.#abort.signal;
  }

  #listFor(type: string): readonly Step[] {
    const steps: Step[] = [];
    for (const [place, { observe, decide }] of this.#handlers.entries()) {
      const own = {
        place,
        observeAll: observe?.['*'],
        observe: lookUp(observe, type),
        decide: lookUp(decide, type),
      } as Step;
      if (own.observeAll || own.observe || own.decide) steps.push(own);
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

/** The commonest answer: the event in another form, complete with its envelope. */
const isSameType = (answer: unknown, event: TurnEvent): answer is TurnEvent => {
  const { type, turn } = (answer ?? {}) as Partial<TurnEvent>;
  return type === event.type && turn !== undefined;
};

const lookUp = (table: object | undefined, type: string): unknown =>
  table !== undefined && type !== '*' && Object.hasOwn(table, type) ? table[type as keyof typeof table] : undefined;

const isEvent = (value: unknown): value is NewEvent =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

const nameOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`);
