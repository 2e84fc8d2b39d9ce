import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { EventQueue } from './event-queue.js';
import type { NewEvent, TurnEvent } from '../contract/events.js';
import { checkOperators, PipelinePlan, type PipelineOperator } from './pipeline.js';

/** Options of {@link connect}. */
export interface ConnectOptions {
  /** Id of the turn, for the events passed to `feed`. */
  readonly turn: string;
  /** Performs an event that left the pipeline, after the operators have observed it. */
  readonly onEvent: (event: TurnEvent) => void;
  /** An operator failed, or a native operator ended the stream. Later events may never leave. */
  readonly onError: (error: unknown) => void;
  /**
   * Whether an event that left is accepted; any other is neither observed nor performed.
   *
   * @defaultValue accepts every event
   */
  readonly accepts?: ((event: TurnEvent) => boolean) | undefined;
  /** @defaultValue `asyncScheduler` */
  readonly scheduler?: SchedulerLike | undefined;
}

/** Operators connected to the loop of another framework. */
export interface Connection {
  /** Passes an event of the past to the `observe` handlers only. Call it before the first {@link feed}. */
  replay(event: TurnEvent): void;
  /** Sends a fact or command into the pipeline. It may leave now, later, changed, or as other events. */
  feed(event: NewEvent): void;
  /** Stops the operators, timers included. */
  close(): void;
}

/**
 * Runs operators around the loop of another framework: the host feeds its intentions and their results, and performs
 * the events that leave.
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
export const connect = (operators: readonly PipelineOperator[], options: ConnectOptions): Connection =>
  connectTo(new PipelinePlan(operators), options);

/**
 * Returns {@link connect} for these operators, for hosts with many turns: the turns share what does not belong to one.
 *
 * @throws InvalidOptionError with the position of an argument that is not an operator
 */
export const connector = (operators: readonly PipelineOperator[]): ((options: ConnectOptions) => Connection) => {
  checkOperators(operators, 'connector()');
  const plan = new PipelinePlan(operators);
  return (options) => connectTo(plan, options);
};

const connectTo = (
  plan: PipelinePlan,
  { turn, onEvent, onError, accepts = () => true, scheduler = asyncScheduler }: ConnectOptions,
): Connection => {
  const queue = new EventQueue(scheduler);
  let isLive = false;
  const pipeline = plan.connect(
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
      complete: () => onError(new Error('A native RxJS operator completed the stream.')),
    },
    turn,
  );
  return {
    replay: (event) => {
      if (isLive) {
        throw new TypeError('replay() was called after feed(). Replay all past events before the first feed().');
      }
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
