import { InvalidOptionError, showValue } from '@h/options';
import { isObservable, NEVER, Observable, type OperatorFunction, type Subscriber, type Subscription } from 'rxjs';
import { endQuietly } from '../end-quietly.js';
import { toErrorInfo, type OperatorError } from '../contract/errors.js';
import { problemWith } from '../checks/event-checks.js';
import type { Entrance, EventQueue } from './event-queue.js';
import type { TurnEvent } from '../contract/events.js';
import { interceptor, type Interceptor, type InterceptorSetup } from './handlers.js';
import { Segment, segmentOperator } from './segment.js';
import { SegmentPlan } from './segment-plan.js';

/** An operator of a pipeline: made by `intercept`, or any RxJS operator. */
export type PipelineOperator = OperatorFunction<TurnEvent, TurnEvent>;

/** Receives the events that leave a pipeline. */
export interface PipelineOutlet {
  next(event: TurnEvent): void;
  /** An operator made by `intercept` failed on this event, which does not leave; the pipeline stays connected. */
  failed(error: OperatorError, event: TurnEvent | undefined): void;
  /** An operator replaced or dropped this event. */
  replaced?(event: TurnEvent): void;
  /** A native operator failed; the pipeline emits nothing more. */
  error(error: unknown): void;
  /** A native operator completed the stream; the pipeline emits nothing more. */
  complete(): void;
}

/** A connected pipeline. */
export interface Pipeline {
  /** Sends a fact or command into the pipeline, at the top. */
  feed(event: TurnEvent): void;
  /** Passes an event to the `observe` handlers of all interceptors. @returns the first failure */
  observe(event: TurnEvent): OperatorError | undefined;
  /** Runs the `start` handlers. */
  start(): void;
  close(): void;
}

export const isInterceptor = (operator: PipelineOperator): operator is Interceptor => interceptor in operator;

/**
 * Rejects values that are not operators. Native operators are tried on a source that emits nothing: a
 * factory that was not called returns an operator instead of an observable, or throws.
 *
 * @param owner - the function that received them, for messages
 * @throws InvalidOptionError that names the position and the fix
 */
export const checkOperators = (operators: readonly unknown[], owner: string): void => {
  for (const [index, operator] of operators.entries()) {
    const problem = problemWithOperator(operator);
    if (problem === undefined) continue;
    const option = `operators[${index}]`;
    const message = `${owner}: operator ${index + 1} of ${operators.length} ${problem}`;
    throw new InvalidOptionError({ owner, option, message });
  }
};

const problemWithOperator = (operator: unknown): string | undefined => {
  if (Array.isArray(operator)) return 'is an array. Spread it with "...", or pass its operators one by one.';
  if (typeof operator !== 'function') {
    return `is ${showValue(operator)}. Pass an operator such as tools(), or remove it.`;
  }
  if (interceptor in operator) return undefined;
  const { name } = operator;
  const advice =
    name === '' ? 'If it makes an operator, call it.' : `If ${name} makes an operator, call it: ${name}().`;
  try {
    const stream = (operator as (source: Observable<TurnEvent>) => unknown)(NEVER);
    return isObservable(stream) ? undefined : `is not an operator: it returned ${showValue(stream)}. ${advice}`;
  } catch (error) {
    return `is not an operator: it threw ${JSON.stringify(shorten(toErrorInfo(error).message))}. ${advice}`;
  }
};

/** A factory that takes the source for its options lists all of them in its error; the fix comes behind it. */
const shorten = (message: string): string =>
  message.length > 120 ? `${message.slice(0, 119).toWellFormed()}…` : message;

/** The operators of a pipeline, adjacent interceptors fused. All turns of an agent share it. */
export class PipelinePlan {
  readonly parts: readonly (SegmentPlan | PipelineOperator)[];

  constructor(operators: readonly PipelineOperator[]) {
    const parts: (SegmentPlan | PipelineOperator)[] = [];
    let group: InterceptorSetup[] = [];
    const closeGroup = (): void => {
      if (group.length > 0) parts.push(new SegmentPlan(group));
      group = [];
    };
    for (const operator of operators) {
      if (isInterceptor(operator)) {
        group.push(operator[interceptor]);
      } else {
        closeGroup();
        parts.push(operator);
      }
    }
    closeGroup();
    this.parts = parts;
  }

  /** The native operators, as the subject of a sentence. */
  get nativeNames(): string {
    const names = this.parts.flatMap((part) => (part instanceof SegmentPlan ? [] : [part.name || 'anonymous']));
    return names.length === 0 ? 'An operator' : `A native operator (${names.join(' or ')})`;
  }

  /** Connects the operators for one turn. Interceptors alone need no subscribers between the handlers. */
  connect(queue: EventQueue, outlet: PipelineOutlet, turn: string): Pipeline {
    const [first = noOperators, ...others] = this.parts;
    return first instanceof SegmentPlan && others.length === 0
      ? new Segment(first, queue, outlet, turn)
      : new MixedPipeline(this, queue, outlet, turn);
  }
}

const noOperators = new SegmentPlan([]);

/** A pipeline with native operators: a chain of subscribers, with one segment for each run of interceptors. */
class MixedPipeline implements Pipeline, Entrance {
  readonly #queue: EventQueue;
  readonly #subscription: Subscription;
  /** The segments in pipe order. A native operator that resubscribes, such as `retry`, replaces those above it. */
  readonly #segments: (Segment | undefined)[] = [];
  /** The event of each type that was fed last. */
  readonly #fed = new Map<string, TurnEvent>();
  #top: Subscriber<TurnEvent> | undefined;
  #isClosed = false;

  constructor(plan: PipelinePlan, queue: EventQueue, outlet: PipelineOutlet, turn: string) {
    this.#queue = queue;
    const source = new Observable<TurnEvent>((subscriber) => {
      this.#top = subscriber;
      return () => {
        this.#top = undefined;
        // The native operator has left its source for good, unless it resubscribes at once, as `retry` does.
        void Promise.resolve().then(() => {
          if (this.#top === undefined && !this.#isClosed) outlet.complete();
        });
      };
    });
    this.#subscription = plan.parts
      .map((part) => (part instanceof SegmentPlan ? this.#segmentOperator(part, outlet, turn) : part))
      .reduce((stream, operator) => stream.pipe(operator), source)
      .subscribe({
        next: (event) => {
          const problem = problemWith(event, (type) => this.#fed.get(type));
          if (problem !== undefined) outlet.error(new TypeError(`${plan.nativeNames} emitted ${problem}.`));
          // A native operator may emit at any time, but the runner handles one event at a time.
          else if (queue.isBusy) outlet.next(event);
          else queue.during(() => outlet.next(event));
        },
        error: (error: unknown) => outlet.error(error),
        complete: () => outlet.complete(),
      });
  }

  run(event: TurnEvent): void {
    this.#top?.next(event);
  }

  feed(event: TurnEvent): void {
    this.#fed.set(event.type, event);
    this.#queue.push(this, event, 0);
  }

  observe(event: TurnEvent): OperatorError | undefined {
    let failure: OperatorError | undefined;
    for (const segment of this.#segments) {
      const own = segment?.observe(event);
      failure ??= own;
    }
    return failure;
  }

  start(): void {
    for (const segment of this.#segments) segment?.start();
  }

  close(): void {
    this.#isClosed = true;
    endQuietly(this.#subscription);
  }

  #segmentOperator(plan: SegmentPlan, outlet: PipelineOutlet, turn: string): PipelineOperator {
    const index = this.#segments.push(undefined) - 1;
    return segmentOperator((subscriber) => {
      const segment = new Segment(plan, this.#queue, { ...outlet, next: (event) => subscriber.next(event) }, turn);
      this.#segments[index] = segment;
      return segment;
    });
  }
}
