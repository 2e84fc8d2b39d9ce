import { Observable, type OperatorFunction, type Subscriber, type Subscription } from 'rxjs';
import { endQuietly } from './end-quietly.js';
import type { OperatorError } from './errors.js';
import { problemWith } from './event-shape.js';
import type { Entrance, EventQueue } from './event-queue.js';
import type { TurnEvent } from './events.js';
import { interceptor, type Interceptor, type InterceptorSetup } from './handlers.js';
import { Segment } from './segment.js';

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

/** Names the native operators of a pipe, as the subject of a sentence. */
export const nativeNames = (operators: readonly PipelineOperator[]): string => {
  const names = operators.filter((operator) => !isInterceptor(operator)).map(({ name }) => name || 'anonymous');
  return names.length === 0 ? 'An operator' : `A native operator (${names.join(' or ')})`;
};

/** Connects operators into one pipeline, adjacent interceptors fused into a segment. */
export const connectPipeline = (
  operators: readonly PipelineOperator[],
  queue: EventQueue,
  outlet: PipelineOutlet,
  turn: string,
): Pipeline =>
  operators.every(isInterceptor)
    ? connectSegment(operators, queue, outlet, turn)
    : new MixedPipeline(operators, queue, outlet, turn);

/** Connects interceptors only, which needs no subscribers between the handlers. */
const connectSegment = (
  operators: readonly Interceptor[],
  queue: EventQueue,
  outlet: PipelineOutlet,
  turn: string,
): Pipeline => {
  const segment = new Segment(
    operators.map((operator) => operator[interceptor]),
    queue,
    outlet,
    turn,
  );
  return {
    feed: (event) => queue.push(segment, event, 0),
    observe: (event) => segment.observe(event),
    start: () => segment.start(),
    close: () => segment.close(),
  };
};

/** A pipeline with native operators: a chain of subscribers, with one segment for each run of interceptors. */
class MixedPipeline implements Pipeline, Entrance {
  readonly #queue: EventQueue;
  readonly #subscription: Subscription;
  /** The segments in pipe order. A native operator that resubscribes, such as `retry`, replaces those above it. */
  readonly #segments: (Segment | undefined)[] = [];
  #top: Subscriber<TurnEvent> | undefined;
  #isClosed = false;

  constructor(operators: readonly PipelineOperator[], queue: EventQueue, outlet: PipelineOutlet, turn: string) {
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
    this.#subscription = this.#fuse(operators, outlet, turn)
      .reduce((stream, operator) => stream.pipe(operator), source)
      .subscribe({
        next: (event) => {
          const problem = problemWith(event);
          if (problem !== undefined) outlet.error(new TypeError(`${nativeNames(operators)} emitted ${problem}.`));
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

  #fuse(operators: readonly PipelineOperator[], outlet: PipelineOutlet, turn: string): readonly PipelineOperator[] {
    const result: PipelineOperator[] = [];
    let group: InterceptorSetup[] = [];
    const closeGroup = (): void => {
      if (group.length > 0) result.push(this.#segmentOperator(group, outlet, turn));
      group = [];
    };
    for (const operator of operators) {
      if (isInterceptor(operator)) {
        group.push(operator[interceptor]);
      } else {
        closeGroup();
        result.push(operator);
      }
    }
    closeGroup();
    return result;
  }

  #segmentOperator(group: readonly InterceptorSetup[], outlet: PipelineOutlet, turn: string): PipelineOperator {
    const index = this.#segments.push(undefined) - 1;
    return (source) =>
      new Observable<TurnEvent>((subscriber) => {
        const segment = new Segment(
          group,
          this.#queue,
          {
            next: (event) => subscriber.next(event),
            failed: (error, event) => outlet.failed(error, event),
            replaced: (event) => outlet.replaced?.(event),
          },
          turn,
        );
        this.#segments[index] = segment;
        subscriber.add(() => segment.close());
        subscriber.add(
          source.subscribe({
            next: (event) => segment.feed(event),
            error: (error: unknown) => subscriber.error(error),
            complete: () => segment.whenSettled(() => subscriber.complete()),
          }),
        );
      });
  }
}
