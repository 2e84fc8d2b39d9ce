import { CodedError } from '@h/options';
import type { ErrorInfo } from './error-info.js';
import type { PastTurn } from './session-store.js';

/** The base class of errors thrown by turns, operators and stores. `code` is stable between versions. */
export class TurnError extends CodedError {}

/** Input from outside has the wrong shape. The message names the path, the value and what was expected. */
export class InvalidInputError extends TurnError {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid-input', message, options);
  }
}

/** The session is held by another turn. Wait for its end, steer it, or queue turns with `@h/queue`. */
export class SessionBusyError extends TurnError {
  readonly session: string;
  /** The label of the process that holds the session, if a store of several processes knows it. */
  readonly owner: string | undefined;
  /** When that process opened the session, in milliseconds since 1970 by the clock of the store. */
  readonly since: number | undefined;

  constructor(session: string, holder?: { readonly owner: string; readonly since?: number | undefined }) {
    const since = holder?.since === undefined ? '' : ` since ${new Date(holder.since).toISOString()}`;
    super(
      'session-busy',
      holder
        ? `Session ${JSON.stringify(session)} is held by ${holder.owner}${since}. Retry after that turn or process has ended.`
        : `Session ${JSON.stringify(session)} is already running a turn. Wait for its end, steer it, or add queue() to the pipe.`,
    );
    this.session = session;
    this.owner = holder?.owner;
    this.since = holder?.since;
  }
}

/** The latest turn of the session has not ended, and must be resumed before a new one begins. */
export class SessionUnfinishedError extends TurnError {
  readonly session: string;
  /** The turn that has not ended. */
  readonly turn: string;

  constructor(session: string, turn: string) {
    super(
      'session-unfinished',
      `Turn ${JSON.stringify(turn)} of session ${JSON.stringify(session)} has not ended. Retry after a worker has resumed it.`,
    );
    this.session = session;
    this.turn = turn;
  }
}

/**
 * The store did not finish an operation in time after the turn had ended. The session stays locked until the
 * operation is done, so that two turns never write to it at once.
 */
export class SessionStuckError extends TurnError {
  readonly session: string;
  /** The pending operation. */
  readonly operation: StoreOperation;

  constructor(session: string, operation: StoreOperation) {
    super(
      'session-stuck',
      `The store has not finished ${operation}() of session ${JSON.stringify(session)} for a turn that has ended. The session stays locked until it does; retry later.`,
    );
    this.session = session;
    this.operation = operation;
  }
}

/** An operation of a session store. */
export type StoreOperation = 'open' | 'append' | 'close';

/**
 * A turn was started with the id of a turn that its session has recorded. An id is an idempotency key: nothing ran a
 * second time.
 */
export class DuplicateTurnError extends TurnError {
  readonly session: string;
  /** The turn that was started first. One without an outcome can be resumed. */
  readonly first: PastTurn;

  constructor(session: string, first: PastTurn) {
    const { turn, startedAt, outcome } = first;
    const state = outcome === undefined ? 'has not ended; resume it' : `ended with the outcome ${outcome}`;
    super(
      'duplicate-turn',
      `Turn ${JSON.stringify(turn)} of session ${JSON.stringify(session)} began at ${timeOf(startedAt)} and ${state}. Give a new turn another id.`,
    );
    this.session = session;
    this.first = first;
  }
}

const timeOf = (at: number): string => {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
};

/** No journal of this turn is kept. */
export class UnknownTurnError extends TurnError {
  readonly turn: string;

  constructor(turn: string) {
    super(
      'unknown-turn',
      `The store has no journal of turn ${JSON.stringify(turn)}: it never began, or a later turn of its session replaced it.`,
    );
    this.turn = turn;
  }
}

/** An operator threw, rejected or returned something that its contract forbids. */
export class OperatorError extends TurnError {
  readonly operator: string;

  constructor(operator: string, message: string, options?: ErrorOptions) {
    super('operator-failed', `The operator ${JSON.stringify(operator)} ${message}`, options);
    this.operator = operator;
  }
}

const maxCauses = 5;

/**
 * Converts any thrown value to an {@link ErrorInfo}. Never throws.
 *
 * Follows causes five levels deep, the depth of Node's network errors. Describes values that are not errors.
 */
export const toErrorInfo = (thrown: unknown, depth = 0): ErrorInfo => {
  try {
    return describeThrown(thrown, depth);
  } catch {
    return { name: 'Error', message: 'The thrown value cannot be read.' };
  }
};

const describeThrown = (thrown: unknown, depth: number): ErrorInfo => {
  if (!(thrown instanceof Error)) return { name: 'Error', message: asText(thrown) };
  const { name, message, code, operator, cause } = thrown as Error & { code?: unknown; operator?: unknown };
  return {
    name: typeof name === 'string' ? name : 'Error',
    message: asText(message),
    ...(typeof code === 'string' && { code }),
    ...(typeof operator === 'string' && { operator }),
    ...(cause !== undefined && depth < maxCauses && { cause: toErrorInfo(cause, depth + 1) }),
  };
};

const asText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return typeof value === 'bigint' ? String(value) : Object.prototype.toString.call(value);
  }
};
