import type { ErrorReason, FailureScope } from '@h/provider-errors';
import type { CooldownTime } from '../reason-actions.js';

/** A cooldown. Plain JSON, so that a store can persist it. */
export interface CooldownWindow {
  readonly reason: ErrorReason;
  /** Its beginning and end, in milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
  /** The number of failures in a row that led here; the next window is longer. */
  readonly level: number;
  /** Whether the provider asked for this wait, so that waiting for its end is worthwhile. */
  readonly isStated?: boolean | undefined;
}

/** A failure that starts or extends a cooldown. */
export interface WindowFailure {
  readonly reason: ErrorReason;
  readonly time: CooldownTime;
  readonly at: number;
  /** The shortest wait that the provider asks for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** From 0 to 1: spreads calls that wait for the same window. */
  readonly jitter: number;
}

const jitterShare = 0.1;

/** The clocks of processes that share a store differ by less, in milliseconds. */
const maxSkewMs = 60_000;

/** Whether the window was recorded before the clock was set back, so that its end may be hours away. */
const isAhead = ({ since }: CooldownWindow, now: number): boolean => since > now + maxSkewMs;

export const isActive = (window: CooldownWindow, now: number): boolean => now < window.until && !isAhead(window, now);

/** When enough time will have passed without a failure that the next one counts as the first. */
export const forgottenAt = ({ since, until }: CooldownWindow): number => until + (until - since);

export const isForgotten = (window: CooldownWindow, now: number): boolean =>
  isAhead(window, now) || now >= forgottenAt(window);

/**
 * The window after one more failure.
 *
 * A failure inside a window belongs to a call that was under way when it began: it never shortens the window and does
 * not make the next one longer. A failure after it, before a success, begins a longer one. A failure from before the
 * window (replayed after a crash) changes nothing.
 */
export const windowAfter = (known: CooldownWindow | undefined, failure: WindowFailure): CooldownWindow => {
  const { reason, at, retryAfterMs } = failure;
  const stated = retryAfterMs === undefined ? {} : { isStated: true };
  if (known !== undefined && known.since > at) return known;
  if (known !== undefined && isActive(known, at)) {
    const until = at + lengthOf(failure, known.reason === reason ? known.level : 1);
    return until > known.until ? { reason, since: known.since, until, level: known.level, ...stated } : known;
  }
  const level = known === undefined || isForgotten(known, at) ? 1 : known.level + 1;
  return { reason, since: at, until: at + lengthOf(failure, level), level, ...stated };
};

/**
 * The time that the provider states is exact: it grows with further failures, but never beyond the provider's or our
 * own.
 */
const lengthOf = ({ time, retryAfterMs, jitter }: WindowFailure, level: number): number => {
  const { baseMs, factor, maxMs } = time;
  const growth = factor ** (level - 1);
  const own = Math.min(baseMs * growth, maxMs);
  const length = retryAfterMs === undefined ? own : Math.max(retryAfterMs, Math.min(retryAfterMs * growth, own));
  return Math.ceil(length * (1 + jitterShare * jitter));
};

/**
 * Names what is in cooldown: a profile, a profile with one model, or a model with any profile. Ids of profiles have one
 * line.
 */
export const windowKey = (scope: FailureScope, profile = '', model = ''): string =>
  scope === 'profile' ? profile : scope === 'model' ? `${profile}\n${model}` : `\n${model}`;

/** The profile and the model that a key names. */
export const readWindowKey = (key: string): readonly [profile: string | undefined, model: string | undefined] => {
  const end = key.indexOf('\n');
  if (end < 0) return [key, undefined];
  return [end === 0 ? undefined : key.slice(0, end), key.slice(end + 1)];
};
