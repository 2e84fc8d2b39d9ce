import { TurnError, type ErrorInfo, type TurnEventOf, type TurnOutcome } from '@h/turn';

/**
 * An operator around a host's model ended the turn (`stop()`): the call was not made, or its answer is withheld.
 *
 * The SDK does not retry it.
 */
export class TurnStoppedError extends TurnError {
  readonly outcome: TurnOutcome;
  readonly reason: string | undefined;
  /** The error that the operator reported, if any. */
  readonly error: ErrorInfo | undefined;

  constructor({ outcome, reason, error }: Pick<TurnEventOf<'turn.stop'>, 'outcome' | 'reason' | 'error'>) {
    super(
      'turn-stopped',
      `An operator ended the turn as ${JSON.stringify(outcome)}${reason === undefined ? '.' : `: ${reason}`}`,
    );
    this.outcome = outcome;
    this.reason = reason;
    this.error = error;
  }
}
