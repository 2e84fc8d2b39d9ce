import { addTo, noCounters, storedCounters, type Amounts, type Counters } from './counters.js';
import { type Allowance, effectiveLimit, limitFacts, type LimitName, limitNames, type LimitState } from './limits.js';

/** Rounding errors of sums stay below this share; they neither refuse a step nor make it wait. */
const roundingError = 1e-12;

/** The limits of one scope, what was used of them, and what is reserved for calls under way. */
export class Account {
  readonly scope: string;
  readonly #allowance: Allowance;
  /** The finite limits. */
  readonly names: readonly LimitName[];
  readonly #counters: ReturnType<typeof noCounters>;
  readonly #reserved = noCounters();
  #running = 0;
  #since = 0;

  constructor(scope: string, allowance: Allowance, used?: unknown) {
    this.scope = scope;
    this.#allowance = allowance;
    this.names = limitNames.filter((name) => (allowance[name] ?? Infinity) !== Infinity);
    this.#counters = storedCounters(used);
  }

  /** Whether the limit is finite. */
  limits(limit: LimitName): boolean {
    return this.names.includes(limit);
  }

  /** What was used until this time. */
  used(now?: number): Counters {
    const { durationMs } = this.#counters;
    const running = this.#running > 0 && now !== undefined ? Math.max(0, now - this.#since) : 0;
    return { ...this.#counters, durationMs: durationMs + running };
  }

  /** A limit and what was used of it. */
  state(limit: LimitName, now: number): LimitState {
    return { scope: this.scope, limit, used: this.#usedOf(limit, now), max: this.#maxOf(limit) };
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
    const limit = this.names.find((name) => this.left(name, now, true) < 0);
    return limit && this.state(limit, now);
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
    return effectiveLimit(this.#allowance, limit, this.#counters.completions);
  }

  #usedOf(limit: LimitName, now: number): number {
    const used = limitFacts[limit].measure(this.#counters);
    return limit === 'maxDurationMs' && this.#running > 0 ? used + Math.max(0, now - this.#since) : used;
  }
}
