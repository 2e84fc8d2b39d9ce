import { TurnError } from '@h/turn';

/**
 * Why somebody has no place in the lanes, or has lost it.
 *
 * - `lane-full`: too many wait already, and the newcomer is refused
 * - `lane-dropped`: a newcomer was let in instead
 * - `lane-cleared`: `clear()` sent those away who waited in this session
 * - `lane-closed`: the lanes are draining or shut down
 * - `lane-aborted`: the caller's own signal; `cause` is its reason
 * - `lane-waited-too-long`: `maxWaitMs` was over before a place was free
 * - `lane-reentered`: who asks holds the session already, so it would wait for itself
 * - `lane-timed-out`: it had a place and made no progress, or reached its deadline; see {@link LaneTimeoutError}
 * - `lane-lost`: it tries to go on after its place was given to somebody else
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
  | 'lane-lost';

/** Somebody has no place in the lanes, or has lost it. `code` says why. */
export class LaneError extends TurnError {
  declare readonly code: LaneErrorCode;
  readonly session: string;

  constructor(code: LaneErrorCode, session: string, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.session = session;
  }
}

/** What an aborted signal, or anything else that somebody gave as a reason, is as an error. */
export const abortError = (session: string, reason: unknown): LaneError => {
  const text =
    reason instanceof Error ? reason.message : typeof reason === 'string' ? reason : 'The signal was aborted.';
  return new LaneError('lane-aborted', session, text, { cause: reason });
};

/** Which clock has run out. */
export type TimeoutKind = 'idle' | 'deadline';

/** It held a place and made no progress for too long, or reached its deadline. */
export class LaneTimeoutError extends LaneError {
  readonly kind: TimeoutKind;
  /** How long it has run, in milliseconds. */
  readonly ranMs: number;
  /** How long ago it last made progress, in milliseconds. */
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
    ? `In session ${name} nothing has moved for ${Math.round(idleMs)} ms; ${limitMs} ms are allowed (idleTimeoutMs). It has run for ${Math.round(ranMs)} ms.`
    : `In session ${name} the deadline of ${limitMs} ms (deadlineMs) is over; it last moved ${Math.round(idleMs)} ms ago.`;
};

const childrenText = (count: number): string =>
  count === 0
    ? ''
    : ` ${count} of what it has started itself wait for a place: wait for them in yieldWhile(), which frees its own.`;
