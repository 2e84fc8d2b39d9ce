import type { ErrorReason } from '@h/provider-errors';
import type { CooldownTime } from '../reasons.js';

/** A stretch of time in which something is left alone. Plain JSON, so that a store can keep it. */
export interface CooldownWindow {
  readonly reason: ErrorReason;
  /** When it began and when it ends, as milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
  /** How many failures in a row have led here; the next window is longer. */
  readonly level: number;
}

/** A failure that something is left alone for. */
export interface WindowFailure {
  readonly reason: ErrorReason;
  readonly time: CooldownTime;
  readonly at: number;
  /** What the provider asks for, in milliseconds: the window is never shorter. */
  readonly retryAfterMs?: number | undefined;
  /** From 0 to 1: spreads those that wait for the same window. */
  readonly jitter: number;
}

const jitterShare = 0.1;

export const isActive = ({ until }: CooldownWindow, now: number): boolean => now < until;

/** Whether so much time has passed without a failure that the next one counts as the first. */
export const isForgotten = ({ since, until }: CooldownWindow, now: number): boolean => now >= until + (until - since);

/**
 * The window after one more failure.
 *
 * A failure inside a window comes from a call that was under way when it began: it makes the window no shorter, and the next
 * one no longer. A failure after it, before a success, begins a longer one. One that lies before the window (it is told again
 * after a crash) changes nothing.
 */
export const windowAfter = (known: CooldownWindow | undefined, failure: WindowFailure): CooldownWindow => {
  const { reason, at } = failure;
  if (known !== undefined && known.since > at) return known;
  if (known !== undefined && isActive(known, at)) {
    const until = at + lengthOf(failure, known.reason === reason ? known.level : 1);
    return until > known.until ? { reason, since: known.since, until, level: known.level } : known;
  }
  const level = known === undefined || isForgotten(known, at) ? 1 : known.level + 1;
  return { reason, since: at, until: at + lengthOf(failure, level), level };
};

const lengthOf = ({ time, retryAfterMs, jitter }: WindowFailure, level: number): number => {
  const { baseMs, factor, maxMs } = time;
  const own = Math.min(baseMs * factor ** (level - 1), maxMs);
  const length = level === 1 ? (retryAfterMs ?? own) : Math.max(retryAfterMs ?? 0, own);
  return Math.ceil(length * (1 + jitterShare * jitter));
};
