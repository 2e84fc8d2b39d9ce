import { CodedError } from '@h/options';
import type { ErrorInfo } from './error-info.js';
import type { PastTurn } from './session-store.js';

/** The base of the errors that a turn, its operators and its stores throw. `code` stays the same between versions. */
export class TurnError extends CodedError {}

/** Something that came from outside has the wrong shape. The message names the path, the value and what was expected. */
export class InvalidInputError extends TurnError {
  constructor(message: string, options?: ErrorOptions) {
    super('invalid-input', message, options);
  }
}

/** The session runs another turn. Wait for its end, steer it, or let `@h/queue` line the turns up. */
export class SessionBusyError extends TurnError {
  readonly session: string;

  constructor(session: string) {
    super(
      'session-busy',
      `The session ${JSON.stringify(session)} already runs a turn; wait for its end, steer it, or add queue().`,
    );
    this.session = session;
  }
}

/**
 * A store has not finished what a turn was waiting for when it let its session go. The session stays taken until the store
 * has: two turns never write to it at once.
 */
export class SessionStuckError extends TurnError {
  readonly session: string;
  /** What the store has not finished. */
  readonly operation: StoreOperation;

  constructor(session: string, operation: StoreOperation) {
    super(
      'session-stuck',
      `The store has not finished ${operation}() of the session ${JSON.stringify(session)} for a turn that has ended; until it has, no other turn may write there.`,
    );
    this.session = session;
    this.operation = operation;
  }
}

/** What a session store is asked to do with a session. */
export type StoreOperation = 'open' | 'append' | 'close';

/**
 * A turn was started with the id of a turn that its session has recorded. An id is an idempotency key: nothing ran a second
 * time.
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
      `No journal is kept of the turn ${JSON.stringify(turn)}; it was never begun, or a later turn of its session replaced it.`,
    );
    this.turn = turn;
  }
}

/** An operator threw, rejected or answered with something that the contract forbids. */
export class OperatorError extends TurnError {
  readonly operator: string;

  constructor(operator: string, message: string, options?: ErrorOptions) {
    super('operator-failed', `The operator ${JSON.stringify(operator)} ${message}`, options);
    this.operator = operator;
  }
}

const maxCauses = 5;

/**
 * Any thrown value as an {@link ErrorInfo}. It never throws itself, whatever was thrown.
 *
 * Causes are followed five deep, which is as deep as Node's own network errors nest. A value that is not an error is described.
 */
export const toErrorInfo = (thrown: unknown, depth = 0): ErrorInfo => {
  try {
    return describeThrown(thrown, depth);
  } catch {
    return { name: 'Error', message: 'A value was thrown that cannot be read.' };
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
