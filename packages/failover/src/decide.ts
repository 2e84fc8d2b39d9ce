import { type ErrorClass, type ErrorReason } from '@h/provider-errors';
import type { Backoff } from './backoff.js';
import type { Candidate } from './chain.js';
import type { CredentialPool } from './pool/credential-pool.js';
import type { CredentialLease } from './pool/profile-picker.js';
import { isFinal, type ReasonAction } from './reason-actions.js';

/** The limits of a step. */
export interface DecisionLimits {
  readonly actions: Readonly<Record<ErrorReason, ReasonAction>>;
  readonly maxRetries: number;
  readonly maxAttempts: number;
  readonly maxElapsedMs: number;
  readonly maxWaitMs: number;
  readonly maxStatedWaitMs: number;
  readonly backoff: Backoff;
  readonly random: () => number;
}

/** What a step has used of its limits. */
export interface StepProgress {
  /** When its first call began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Failed calls. */
  readonly failedCalls: number;
  /** Failed calls of the model and credential that failed last. */
  readonly failuresOfLast: number;
}

/** What follows a failed call. */
export type Plan =
  /** The error passes: no other target can answer this request. */
  | { readonly kind: 'pass' }
  /** The same model and credential, after the delay. */
  | { readonly kind: 'retry'; readonly delayMs: number }
  /** Another credential or model, or the first one whose cooldown ends. */
  | { readonly kind: 'switch' };

/** Decides what follows a failed call: pass the error on, retry, or switch. */
export const decide = (failure: ErrorClass, at: number, progress: StepProgress, limits: DecisionLimits): Plan => {
  const action = limits.actions[failure.reason];
  if (isFinal(action)) return { kind: 'pass' };
  const retries = Math.min(action.maxRetries ?? Infinity, limits.maxRetries);
  const mayRetry = action.retry && failure.retryable && progress.failuresOfLast <= retries;
  if (!mayRetry || usedUp(at, progress, limits) !== undefined) return { kind: 'switch' };
  const backoffMs = limits.backoff(progress.failuresOfLast, limits.random());
  const delayMs = Math.max(backoffMs, failure.retryAfterMs ?? 0);
  const isTooLong = exceeded({ delayMs, isStated: false }, at, progress, limits) !== undefined;
  return isTooLong ? { kind: 'switch' } : { kind: 'retry', delayMs };
};

/**
 * The models that a step no longer asks after a failure.
 *
 * A model without a cooldown, or whose other credentials must not be tried, is excluded itself; if the request must not
 * go to another model, all the others are.
 */
export const excludedModels = (
  { reason, scope }: ErrorClass,
  hasCooldown: boolean,
  failed: string | undefined,
  chain: readonly Candidate[],
  actions: DecisionLimits['actions'],
): readonly (string | undefined)[] => {
  const { rotate, fallBack } = actions[reason];
  const others = fallBack ? [] : chain.map(({ model }) => model).filter((model) => model !== failed);
  return hasCooldown && (rotate || scope === 'service') ? others : [failed, ...others];
};

/** The next target. */
export type Selection =
  | {
      readonly kind: 'ask';
      /** The position in the chain. */
      readonly position: number;
      readonly lease: CredentialLease;
      /** Why the candidates before it cannot be asked, if there are any. */
      readonly reason: ErrorReason | undefined;
    }
  /** All are in cooldown; `position` and `profile` are available first. */
  | {
      readonly kind: 'wait';
      readonly position: number;
      readonly profile: string | undefined;
      readonly delayMs: number;
      readonly reason: ErrorReason;
    }
  | Exhausted;

/** No target is left, or none within a limit. */
export interface Exhausted {
  readonly kind: 'exhausted';
  /** When the first cooldown ends, in milliseconds since 1970. */
  readonly availableAt: number | undefined;
  /** The limit that excludes the targets that are left. */
  readonly limit?: LimitName | undefined;
}

/** A limit of a step, by its option. */
export type LimitName = 'maxAttempts' | 'maxElapsedMs' | 'maxWaitMs' | 'maxStatedWaitMs';

/** The models that a step no longer asks. */
export type ExcludedModels = Pick<ReadonlySet<string | undefined>, 'has'>;

/** The candidates of a step. */
export interface SelectionState {
  readonly session: string;
  readonly chain: readonly Candidate[];
  /** The position of the model that was asked last. */
  readonly current: number;
  readonly excluded: ExcludedModels;
}

/**
 * Selects the next credential and model: the one that was asked last, then those after it in the chain, then those
 * before it.
 *
 * If all are in cooldown, the step waits for the first that becomes available: up to `maxWaitMs`, or for as long as the
 * provider asked, up to `maxStatedWaitMs` and within `maxElapsedMs`.
 */
export const select = (
  state: SelectionState,
  pool: CredentialPool,
  now: number,
  progress: StepProgress,
  limits: DecisionLimits,
): Selection => {
  const found = firstAvailable(state, pool);
  const over = progress.failedCalls > 0 ? usedUp(now, progress, limits) : undefined;
  if (found === undefined) return { kind: 'exhausted', availableAt: undefined };
  if ('lease' in found) {
    if (over === undefined) return { kind: 'ask', ...found };
    found.lease.release();
    return { kind: 'exhausted', availableAt: undefined, limit: over };
  }
  const { until, probedUntil = Infinity, isStated = false, reason, position, profile } = found;
  const delayMs = Math.max(0, until === undefined ? Math.min(limits.maxWaitMs, probedUntil - now) : until - now);
  const limit = over ?? exceeded({ delayMs, isStated }, now, progress, limits);
  return limit === undefined
    ? { kind: 'wait', position, profile, delayMs, reason }
    : { kind: 'exhausted', availableAt: until, limit };
};

interface Available {
  readonly position: number;
  readonly lease: CredentialLease;
  readonly reason: ErrorReason | undefined;
}

interface InCooldown {
  readonly position: number;
  readonly profile: string | undefined;
  /** Milliseconds since 1970; `undefined` while another call probes it. */
  readonly until: number | undefined;
  readonly probedUntil?: number | undefined;
  readonly isStated?: boolean | undefined;
  readonly reason: ErrorReason;
}

const firstAvailable = (
  { chain, current, excluded, session }: SelectionState,
  pool: CredentialPool,
): Available | InCooldown | undefined => {
  let first: InCooldown | undefined;
  /** Why the first candidate cannot be asked. */
  let reason: ErrorReason | undefined;
  for (let offset = 0; offset < chain.length; offset += 1) {
    const position = (current + offset) % chain.length;
    const candidate = chain[position];
    if (candidate === undefined || excluded.has(candidate.model)) continue;
    const found = pool.acquire({ provider: candidate.provider, model: candidate.model, session });
    if ('release' in found) return { position, lease: found, reason };
    reason ??= found.reason;
    if (first === undefined || (found.until ?? -Infinity) < (first.until ?? -Infinity)) first = { position, ...found };
  }
  return first;
};

const usedUp = (
  now: number,
  { failedCalls, startedAt }: StepProgress,
  { maxAttempts, maxElapsedMs }: DecisionLimits,
): LimitName | undefined =>
  failedCalls >= maxAttempts ? 'maxAttempts' : now - startedAt > maxElapsedMs ? 'maxElapsedMs' : undefined;

/** A wait that the provider has asked for has a separate limit: nothing else would end it sooner. */
const exceeded = (
  { delayMs, isStated }: { readonly delayMs: number; readonly isStated: boolean },
  now: number,
  { startedAt }: StepProgress,
  limits: DecisionLimits,
): LimitName | undefined => {
  const ofWait = isStated ? 'maxStatedWaitMs' : 'maxWaitMs';
  if (delayMs > limits[ofWait]) return ofWait;
  return now + delayMs - startedAt > limits.maxElapsedMs ? 'maxElapsedMs' : undefined;
};
