import { setTimeout } from 'node:timers/promises';
import { JetStreamApiError, JetStreamError } from '@nats-io/jetstream';
import { NoRespondersError, TimeoutError } from '@nats-io/nats-core';
import { TurnError } from '@h/turn';

/** A request to NATS failed; `cause` has the error of the client. */
export class NatsError extends TurnError {
  /** Whether the same request can succeed later. */
  readonly isRetryable: boolean;

  constructor(action: string, cause: unknown) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    super('nats', `${action} failed (${reason.slice(0, 300)}). Check the server and its JetStream account limits.`, {
      cause,
    });
    this.isRetryable = isTransient(cause);
  }
}

/** The bucket can lose sessions or objects. */
export class NatsBucketError extends TurnError {
  constructor(stream: string, problem: string, remedy: string) {
    super('nats-bucket', `Stream ${stream} ${problem}. ${remedy}`);
  }
}

/** The server has not returned all messages of a session. A node that has just restarted may return them later. */
export class IncompleteLogError extends Error {
  constructor(missing: string) {
    super(
      `${missing} of the log is missing. If it stays so, the server has lost it: restore the stream, or delete the session`,
    );
    this.name = 'IncompleteLogError';
  }
}

/** Another client has written something else into a subject of the store. */
export class DamagedEntryError extends Error {
  constructor(subject: string) {
    super(`the entry ${subject} is not one of this store. Find the client that wrote it`);
    this.name = 'DamagedEntryError';
  }
}

/** Another message was written to the subject before. */
const wrongLastSequence = 10_071;
const streamNotFound = 10_059;
const messageNotFound = 10_037;
/** The consumer of a read. A server that restarts forgets it, and the next read creates another one. */
const consumerNotFound = 10_014;
/** JetStream is starting, has no leader, or lacks nodes that have not joined yet. */
const unavailableCodes: readonly number[] = [10_005, 10_008, 10_009, 10_023, 10_074, 10_077, consumerNotFound];
/** The consumer of a read was deleted or has another leader, or the server stops; or nothing has the consumer. */
const interruptedStatuses: readonly unknown[] = [409, 503];

const isApiError = (error: unknown, code: number): boolean => error instanceof JetStreamApiError && error.code === code;

export const isConflict = (error: unknown): boolean => isApiError(error, wrongLastSequence);
export const isStreamMissing = (error: unknown): boolean => isApiError(error, streamNotFound);
export const isMessageMissing = (error: unknown): boolean => isApiError(error, messageNotFound);

/** Returns whether a request can succeed after the server has restarted or the connection is back. */
const isTransient = (error: unknown): boolean => {
  if (error instanceof TimeoutError || error instanceof NoRespondersError) return true;
  if (error instanceof IncompleteLogError) return true;
  if (error instanceof JetStreamError) {
    // The connection is silent: its end may be noticed minutes later.
    return error.message === 'heartbeats missed' || interruptedStatuses.includes('code' in error && error.code);
  }
  if (error instanceof JetStreamApiError) return unavailableCodes.includes(error.code) || error.status === 503;
  return error instanceof Error && error.cause !== undefined && isTransient(error.cause);
};

const pauseMs = 100;

// oxlint-disable-next-line h/no-clock -- requests end by real time, also while a turn is replayed
const monotonicMs = (): number => performance.now();

/** The time at which a request that begins now is no longer repeated. */
export const retryEnd = (retryMs: number): number => monotonicMs() + retryMs;

export const msUntil = (end: number): number => Math.max(0, end - monotonicMs());

/** Waits until a failed request can be repeated. @throws NatsError if it cannot succeed, or did not until `end` */
export const beforeRetry = async (action: string, error: unknown, end: number): Promise<void> => {
  if (!isTransient(error) || msUntil(end) === 0) throw new NatsError(action, error);
  await setTimeout(pauseMs);
};

/**
 * Performs a request, again while the server is unavailable. Conflicts are thrown as they are.
 *
 * A failed request is repeated if it began within `retryMs`: one during which the process was suspended ends late.
 */
export const retrying = async <Result>(
  action: string,
  retryMs: number,
  request: () => Promise<Result>,
): Promise<Result> => {
  const end = retryEnd(retryMs);
  for (;;) {
    const isLast = msUntil(end) === 0;
    try {
      return await request();
    } catch (error) {
      if (isConflict(error) || error instanceof TurnError) throw error;
      await beforeRetry(action, error, isLast ? end : Infinity);
    }
  }
};
