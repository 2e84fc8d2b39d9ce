import { addTo, noCounters, storedCounters, type Amounts, type Counters } from './counters.js';
import { type Allowance, effectiveLimit, limitFacts, type LimitName, limitNames, type LimitState } from './limits.js';

/** Rounding errors of sums stay below this share; they neither refuse a step nor make it wait. */
const roundingError = 1e-12;

/** The limits that the forecast of a step is compared with. */
export type ForecastLimit = 'maxInputTokens' | 'maxOutputTokens' | 'maxTokens' | 'maxCost';

const forecastLimits: readonly ForecastLimit[] = ['maxInputTokens', 'maxOutputTokens', 'maxTokens', 'maxCost'];

/** The finite limits of an allowance. */
export interface FiniteLimits {
  readonly names: readonly LimitName[];
  readonly forecastNames: readonly ForecastLimit[];
  readonly isLimited: ReadonlySet<LimitName>;
}

export const finiteLimitsOf = (allowance: Allowance): FiniteLimits => {
  const isFinite = (name: LimitName): boolean => (allowance[name] ?? Infinity) !== Infinity;
  const names = limitNames.filter(isFinite);
  return { names, forecastNames: forecastLimits.filter(isFinite), isLimited: new Set(names) };
};

/**
 * The limits of one scope and what was used of them.
 *
 * Decisions also count as used what is pending: the amounts of events that were decided and have not happened yet. What
 * is reserved for calls under way counts unless the caller excludes it.
 */
export class Account {
  readonly scope: string;
  readonly #allowance: Allowance;
  /** The finite limits. */
  readonly names: readonly LimitName[];
  /** The finite limits on tokens and cost, which a forecast is compared with. */
  readonly forecastNames: readonly ForecastLimit[];
  readonly #isLimited: ReadonlySet<LimitName>;
  readonly #counters: ReturnType<typeof noCounters>;
  readonly #reserved = noCounters();
  readonly #pending = noCounters();
  #running = 0;
  #since = 0;

  constructor(scope: string, allowance: Allowance, used?: unknown, limits = finiteLimitsOf(allowance)) {
    this.scope = scope;
    this.#allowance = allowance;
    const { names, forecastNames, isLimited } = limits;
    [this.names, this.forecastNames, this.#isLimited] = [names, forecastNames, isLimited];
    this.#counters = storedCounters(used);
  }

  /** Whether the limit is finite. */
  limits(limit: LimitName): boolean {
    return this.#isLimited.has(limit);
  }

  /** Model calls with an unknown cost, without those that are pending. */
  get unpricedCalls(): number {
    return this.#counters.unpricedCalls;
  }

  /** What was used until this time, without what is pending. */
  used(now?: number): Counters {
    const { durationMs } = this.#counters;
    const running = this.#running > 0 && now !== undefined ? Math.max(0, now - this.#since) : 0;
    return { ...this.#counters, durationMs: durationMs + running };
  }

  /** A limit and what was used of it, pending amounts included. */
  state(limit: LimitName, now: number): LimitState {
    return { scope: this.scope, limit, used: this.#usedOf(limit, now), max: this.#maxOf(limit) };
  }

  /** Whether part of the limit was used, and at most the reserve for it is left. */
  isNear(limit: LimitName, now: number, reserveFor: (limit: LimitName, max: number) => number): boolean {
    const used = this.#usedOf(limit, now);
    if (used === 0) return false;
    const max = this.#maxOf(limit);
    return max - used <= reserveFor(limit, max);
  }

  /** What is left of a limit; negative if it was exceeded. */
  left(limit: LimitName, now: number, isReservedFree = false): number {
    const reserved = isReservedFree ? 0 : limitFacts[limit].measure(this.#reserved);
    return this.#maxOf(limit) - this.#usedOf(limit, now) - reserved;
  }

  /** All limits and what was used of them. */
  states(now: number): readonly LimitState[] {
    return this.names.map((limit) => this.state(limit, now));
  }

  /** The first limit without room for these amounts. Reserved amounts count as used unless `isReservedFree` is set. */
  lacks(amounts: Amounts, now: number, isReservedFree = false): LimitState | undefined {
    for (const limit of this.names) {
      const missing = limitFacts[limit].measure(amounts) - this.left(limit, now, isReservedFree);
      if (missing > this.#maxOf(limit) * roundingError) return this.state(limit, now);
    }
    return undefined;
  }

  /** The first limit that was exceeded. */
  overrun(now: number): LimitState | undefined {
    for (const limit of this.names) if (this.left(limit, now, true) < 0) return this.state(limit, now);
    return undefined;
  }

  /** The first limit that does not allow another step. */
  refuses(now: number): LimitState | undefined {
    for (const limit of this.names) {
      if (limitFacts[limit].perStep > this.left(limit, now, true) && !this.#mayBeFree(limit, now)) {
        return this.state(limit, now);
      }
    }
    return undefined;
  }

  add(amounts: Amounts): void {
    addTo(this.#counters, amounts);
  }

  /** Records whether a step of tool calls failed, which continues or ends a series of failures. */
  endStep(hasFailed: boolean): void {
    this.#counters.consecutiveExceptions = hasFailed ? this.#counters.consecutiveExceptions + 1 : 0;
  }

  /** Counts amounts as pending. */
  expect(amounts: Amounts): void {
    addTo(this.#pending, amounts);
  }

  /** Ends the pending state of amounts: their event has happened, or never will. */
  settle(amounts: Amounts): void {
    addTo(this.#pending, amounts, -1);
  }

  reserve(amounts: Amounts): void {
    addTo(this.#reserved, amounts);
  }

  release(amounts: Amounts): void {
    addTo(this.#reserved, amounts, -1);
  }

  /** Records that a turn begins. Time counts while any turn runs. */
  enter(at: number): void {
    if (this.#running === 0) this.#since = at;
    this.#running += 1;
  }

  leave(at: number): void {
    this.#running -= 1;
    if (this.#running === 0) this.#counters.durationMs += Math.max(0, at - this.#since);
  }

  /** With a cost limit of 0, calls that cost nothing are still allowed. */
  #mayBeFree(limit: LimitName, now: number): boolean {
    return limit === 'maxCost' && this.#usedOf(limit, now) === 0;
  }

  #maxOf(limit: LimitName): number {
    return effectiveLimit(this.#allowance, limit, this.#counters.completions + this.#pending.completions);
  }

  #usedOf(limit: LimitName, now: number): number {
    const { measure } = limitFacts[limit];
    const used = measure(this.#counters) + measure(this.#pending);
    return limit === 'maxDurationMs' && this.#running > 0 ? used + Math.max(0, now - this.#since) : used;
  }
}
