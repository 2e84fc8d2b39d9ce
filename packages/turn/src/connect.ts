import { asyncScheduler, type SchedulerLike } from 'rxjs';
import type { NewEvent, TurnEvent } from './events.js';
import { connectPipeline, type PipelineOperator } from './pipeline.js';
import { TurnLoop } from './turn-loop.js';

/** Options of {@link connect}. */
export interface ConnectOptions {
  /** Id of the turn, for the events that are fed. */
  readonly turn: string;
  /** Performs what leaves the pipeline. */
  readonly onEvent: (event: TurnEvent) => void;
  /** An operator failed, or a native one ended the stream. Events that were fed may never leave. */
  readonly onError: (error: unknown) => void;
  /** @defaultValue `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** Operators that are connected around somebody else's loop. */
export interface Connection {
  /** Lets a fact or command enter at the top. It may leave at once, later, changed, or as something else. */
  feed(event: NewEvent): void;
  /** Ends what the operators do, timers included. */
  close(): void;
}

/**
 * Runs operators around a loop that is not ours, for bridges to other frameworks: the host feeds what it is about to
 * do and what came of it, and does what leaves.
 */
export const connect = (
  operators: readonly PipelineOperator[],
  { turn, onEvent, onError, scheduler = asyncScheduler }: ConnectOptions,
): Connection => {
  const loop = new TurnLoop(scheduler);
  loop.turn = turn;
  const pipeline = connectPipeline(operators, loop, {
    next: onEvent,
    failed: (error) => onError(error),
    error: onError,
    complete: () => onError(new Error('An operator in the pipe completed the stream.')),
  });
  return {
    feed: (event) => pipeline.feed({ turn, at: scheduler.now(), ...event }),
    close: () => pipeline.close(),
  };
};
