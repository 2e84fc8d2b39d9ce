import {
  OperatorError,
  TurnError,
  type ErrorInfo,
  type TurnEnding,
  type TurnEventOf,
  type TurnOutcome,
  type Usage,
} from '@h/turn';

/** An operator ended the turn. The host's call was not made, or its answer is withheld; the host must not retry it. */
export class TurnStoppedError extends TurnError {
  readonly outcome: TurnOutcome;
  readonly reason: string | undefined;
  /** The error that the operator reported, if any. */
  readonly error: ErrorInfo | undefined;

  constructor({ outcome, reason, error }: Pick<TurnEventOf<'turn.end'>, 'outcome' | 'reason' | 'error'>) {
    super(
      'turn-stopped',
      `An operator ended the turn as ${JSON.stringify(outcome)}${reason === undefined ? '.' : `: ${reason}`}`,
    );
    this.outcome = outcome;
    this.reason = reason;
    this.error = error;
  }
}

/**
 * Returns the error with which a call of the host rejects because its turn has ended: {@link OperatorError} if an
 * operator failed, `TurnError` for a failure that an operator created or changed, {@link TurnStoppedError} for a stop.
 */
export const endError = (end: TurnEnding): TurnError => {
  const { outcome, error } = end;
  if (outcome !== 'error' || !error) return new TurnStoppedError(end);
  const { operator, code = 'model-error', message } = error;
  if (operator === undefined) return new TurnError(code, message, { cause: error });
  const prefix = `The operator ${JSON.stringify(operator)} `;
  const text = message.startsWith(prefix) ? message.slice(prefix.length) : message;
  return new OperatorError(operator, text, { cause: error });
};

/**
 * A model call that failed, for hosts that know more about the failure than what was thrown. Reject `perform` with it;
 * if no operator handles the failure, the call of the host rejects with `thrown`.
 */
export class FailedModelCall extends Error {
  readonly thrown: unknown;
  readonly info: ErrorInfo;
  readonly usage: Usage | undefined;

  constructor(thrown: unknown, info: ErrorInfo, usage?: Usage) {
    super(info.message, { cause: thrown });
    this.thrown = thrown;
    this.info = info;
    this.usage = usage;
  }
}
