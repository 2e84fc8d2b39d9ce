import { toErrorInfo, TurnError } from '@h/turn';

/**
 * The reason for which a request was refused or its slot was lost.
 *
 * - `lane-full`: too many requests wait already
 * - `lane-dropped`: another request was accepted in its place
 * - `lane-cleared`: `clear()` refused the waiting requests of the session
 * - `lane-closed`: the lanes are draining or shut down
 * - `lane-aborted`: the caller's own signal; `cause` is its reason
 * - `lane-waited-too-long`: no slot was free within `maxWaitMs`
 * - `lane-reentered`: the caller holds the session already and would deadlock
 * - `lane-timed-out`: the holder made no progress, or reached its deadline; see {@link LaneTimeoutError}
 * - `lane-lost`: the holder continued after its slot was given to another request
 * - `lane-failed`: the lanes cannot admit requests until an operator of the service repairs the cause, such as a missing
 *   privilege of a database; `cause` is the error of the store
 */
export type LaneErrorCode =
  | 'lane-full'
  | 'lane-dropped'
  | 'lane-cleared'
  | 'lane-closed'
  | 'lane-aborted'
  | 'lane-waited-too-long'
  | 'lane-reentered'
  | 'lane-timed-out'
  | 'lane-lost'
  | 'lane-failed';

/** Thrown if a request was refused or its slot was lost. `code` is the reason. */
export class LaneError extends TurnError {
  declare readonly code: LaneErrorCode;
  readonly session: string;

  constructor(code: LaneErrorCode, session: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.session = session;
  }
}

/** Creates the error for the reason of an abort. */
export const abortError = (session: string, reason: unknown): LaneError => {
  const text = reason === undefined ? 'The signal was aborted.' : toErrorInfo(reason).message;
  return new LaneError('lane-aborted', session, text, { cause: reason });
};

/** The limit that was exceeded. */
export type TimeoutKind = 'idle' | 'deadline';

/** Thrown if a holder made no progress for too long, or reached its deadline. */
export class LaneTimeoutError extends LaneError {
  readonly kind: TimeoutKind;
  /** The time since it began, in milliseconds. */
  readonly ranMs: number;
  /** The time since its last progress, in milliseconds. */
  readonly idleMs: number;

  constructor(
    session: string,
    kind: TimeoutKind,
    limitMs: number,
    ranMs: number,
    idleMs: number,
    waitingChildren: number,
  ) {
    super(
      'lane-timed-out',
      session,
      `${timeoutText(session, kind, limitMs, ranMs, idleMs)}${childrenText(waitingChildren)}`,
    );
    this.kind = kind;
    this.ranMs = ranMs;
    this.idleMs = idleMs;
  }
}

const timeoutText = (session: string, kind: TimeoutKind, limitMs: number, ranMs: number, idleMs: number): string => {
  const name = JSON.stringify(session);
  return kind === 'idle'
    ? `Session ${name} made no progress for ${Math.round(idleMs)} ms; idleTimeoutMs is ${limitMs}. It ran for ${Math.round(ranMs)} ms.`
    : `Session ${name} exceeded its deadline of ${limitMs} ms (deadlineMs). Its last progress was ${Math.round(idleMs)} ms ago.`;
};

const childrenText = (count: number): string =>
  count === 0
    ? ''
    : ` ${count} of its own requests wait for a slot: wait for them in yieldWhile(), which lends its slot.`;
