import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { EventQueue } from './event-queue.js';
import type { NewEvent, TurnEvent } from './events.js';
import { connectPipeline, type PipelineOperator } from './pipeline.js';

/** Options of {@link connect}. */
export interface ConnectOptions {
  /** Id of the turn, for the events that are fed. */
  readonly turn: string;
  /** Performs what leaves the pipeline. It runs after the operators have observed the event. */
  readonly onEvent: (event: TurnEvent) => void;
  /** An operator failed, or a native one ended the stream. Events that were fed may never leave. */
  readonly onError: (error: unknown) => void;
  /**
   * Whether what left counts; events that do not are neither observed nor performed.
   *
   * @defaultValue every event counts
   */
  readonly accepts?: ((event: TurnEvent) => boolean) | undefined;
  /** @defaultValue `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** Operators that are connected around the loop of another framework. */
export interface Connection {
  /** Shows the operators an event of the past, so that they learn from it and decide nothing. Before the first {@link feed}. */
  replay(event: TurnEvent): void;
  /** Lets a fact or command enter at the top. It may leave now, later, changed, or as other events. */
  feed(event: NewEvent): void;
  /** Ends what the operators do, timers included. */
  close(): void;
}

/**
 * Runs operators around the loop of another framework: the host feeds what it is about to do and what came of it, and does
 * what leaves.
 *
 * @example
 * ```ts
 * declare const operators: PipelineOperator[];
 * const connection = connect(operators, {
 *   turn: 'turn-1',
 *   onEvent: (event) => console.log(event.type),
 *   onError: (error) => console.error(error),
 * });
 * connection.feed({ type: 'tool.call', step: 1, index: 0, call: { id: '1', name: 'ls', input: {} } });
 * ```
 */
export const connect = (
  operators: readonly PipelineOperator[],
  { turn, onEvent, onError, accepts = () => true, scheduler = asyncScheduler }: ConnectOptions,
): Connection => {
  const queue = new EventQueue(scheduler);
  let isLive = false;
  const pipeline = connectPipeline(
    operators,
    queue,
    {
      next: (event) => {
        if (!accepts(event)) return;
        const error = pipeline.observe(event);
        if (error) onError(error);
        onEvent(event);
      },
      failed: (error) => onError(error),
      error: onError,
      complete: () => onError(new Error('An operator in the pipe completed the stream.')),
    },
    turn,
  );
  return {
    replay: (event) => {
      if (isLive) throw new TypeError('replay() shows the past: call it before the first feed().');
      const error = pipeline.observe(event);
      if (error) onError(error);
    },
    feed: (event) => {
      if (!isLive) {
        isLive = true;
        pipeline.start();
      }
      pipeline.feed({ turn, at: scheduler.now(), ...event });
    },
    close: () => pipeline.close(),
  };
};
