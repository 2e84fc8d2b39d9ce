import { Observable, type OperatorFunction, type Subscriber } from 'rxjs';
import { endQuietly } from './end-quietly.js';
import type { OperatorError } from './errors.js';
import type { TurnEvent } from './events.js';
import { interceptor, type Interceptor, type InterceptorSetup } from './intercept.js';
import { Segment } from './segment.js';
import type { Entrance, TurnLoop } from './turn-loop.js';

/** An operator that may stand in a pipeline: ours, or any of RxJS. */
export type PipelineOperator = OperatorFunction<TurnEvent, TurnEvent>;

/** Who receives what a pipeline lets out. */
export interface PipelineOutlet {
  next(event: TurnEvent): void;
  /** An operator made by `intercept` failed on this event, which goes no further; the pipeline lives on. */
  failed(error: OperatorError, event: TurnEvent | undefined): void;
  /** A native operator failed: the pipeline is dead. */
  error(error: unknown): void;
  /** A native operator completed the stream: the pipeline is dead. */
  complete(): void;
}

/** A pipeline that is connected. */
export interface Pipeline {
  /** Lets a fact or command enter at the top. */
  feed(event: TurnEvent): void;
  close(): void;
}

export const isInterceptor = (operator: PipelineOperator): operator is Interceptor => interceptor in operator;

/** Connects operators into one pipeline, adjacent interceptors fused into a segment. */
export const connectPipeline = (
  operators: readonly PipelineOperator[],
  loop: TurnLoop,
  outlet: PipelineOutlet,
): Pipeline => {
  if (operators.every(isInterceptor)) return connectSegment(operators, loop, outlet);
  const fused = fuse(operators, loop, outlet);
  let top: Subscriber<TurnEvent> | undefined;
  let isClosed = false;
  const source = new Observable<TurnEvent>((subscriber) => {
    top = subscriber;
    return () => {
      top = undefined;
      // A native operator has left its source for good, unless it comes back at once, as `retry` does. What others still
      // hold would be let go by events that cannot enter any more.
      void Promise.resolve().then(() => {
        if (top === undefined && !isClosed) outlet.complete();
      });
    };
  });
  const entrance: Entrance = { run: (event) => top?.next(event) };
  const subscription = fused
    .reduce((stream, operator) => stream.pipe(operator), source)
    .subscribe({
      next: (event) => outlet.next(event),
      error: (error: unknown) => outlet.error(error),
      complete: () => outlet.complete(),
    });
  return {
    feed: (event) => loop.push(entrance, event, 0),
    close: () => {
      isClosed = true;
      endQuietly(subscription);
    },
  };
};

/** Without native operators nothing of RxJS is needed between the handlers. */
const connectSegment = (operators: readonly Interceptor[], loop: TurnLoop, outlet: PipelineOutlet): Pipeline => {
  const setups = operators.map((operator) => operator[interceptor]);
  const segment = new Segment(setups, loop, outlet);
  return {
    feed: (event) => loop.push(segment, event, 0),
    close: () => segment.close(),
  };
};

const fuse = (
  operators: readonly PipelineOperator[],
  loop: TurnLoop,
  outlet: PipelineOutlet,
): readonly PipelineOperator[] => {
  const result: PipelineOperator[] = [];
  let group: InterceptorSetup[] = [];
  const closeGroup = (): void => {
    if (group.length > 0) result.push(segmentOperator(group, loop, outlet));
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
};

const segmentOperator =
  (group: readonly InterceptorSetup[], loop: TurnLoop, outlet: PipelineOutlet): PipelineOperator =>
  (source) =>
    new Observable<TurnEvent>((subscriber) => {
      const segment = new Segment(group, loop, {
        next: (event) => subscriber.next(event),
        failed: (error, event) => outlet.failed(error, event),
      });
      subscriber.add(() => segment.close());
      subscriber.add(
        source.subscribe({
          next: (event) => segment.feed(event),
          error: (error: unknown) => subscriber.error(error),
          complete: () => segment.whenSettled(() => subscriber.complete()),
        }),
      );
    });
