import { CodedError } from '@h/options';
import type { ErrorInfo } from './error-info.js';

/** The base class of errors thrown by turns, operators and stores. `code` is stable between versions. */
export class TurnError extends CodedError {}

/** Input from outside has the wrong shape. The message names the path, the value and what was expected. */
export class InvalidInputError extends TurnError {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid-input', message, options);
  }
}

/** The session is running another turn. Wait for its end, steer it, or queue turns with `@h/queue`. */
export class SessionBusyError extends TurnError {
  readonly session: string;

  constructor(session: string) {
    super(
      'session-busy',
      `Session ${JSON.stringify(session)} is already running a turn. Wait for its end, steer it, or add queue() to the pipe.`,
    );
    this.session = session;
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
 * The session has already recorded a turn with this id. An id is an idempotency key: nothing ran a second time.
 * `outcome` is that of the first turn; `undefined` means that it has not ended and can be resumed.
 */
export class DuplicateTurnError extends TurnError {
  readonly turn: string;
  readonly session: string;
  readonly outcome: string | undefined;

  constructor(turn: string, session: string, outcome: string | undefined) {
    const state = outcome === undefined ? 'has not ended; resume it' : `ended with the outcome ${outcome}`;
    super(
      'duplicate-turn',
      `Session ${JSON.stringify(session)} already has a turn ${JSON.stringify(turn)}, which ${state}.`,
    );
    this.turn = turn;
    this.session = session;
    this.outcome = outcome;
  }
}

/** The store has no journal of this turn. */
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
