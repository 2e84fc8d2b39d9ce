import { addTo, noCounters, storedCounters, type Amounts, type Counters } from './counters.js';
import { type Allowance, effectiveLimit, limitFacts, type LimitName, limitNames, type LimitState } from './limits.js';

/** Sums of fractions are off by less than this share of them; nobody is refused, or waits, for that. */
const roundingError = 1e-12;

/** What somebody may use, what was used of it, and what is set aside for what is under way. */
export class Account {
  readonly scope: string;
  readonly #allowance: Allowance;
  /** The limits that there are. */
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

  /** Whether there is such a limit. */
  limits(limit: LimitName): boolean {
    return this.names.includes(limit);
  }

  /** What was used up to this time. */
  used(now?: number): Counters {
    const { durationMs } = this.#counters;
    const running = this.#running > 0 && now !== undefined ? Math.max(0, now - this.#since) : 0;
    return { ...this.#counters, durationMs: durationMs + running };
  }

  /** A limit and what was used of it. */
  state(limit: LimitName, now: number): LimitState {
    return { scope: this.scope, limit, used: this.#usedOf(limit, now), max: this.#maxOf(limit) };
  }

  /** How much is left of a limit; less than nothing where it was overrun. */
  left(limit: LimitName, now: number, isReservedFree = false): number {
    const reserved = isReservedFree ? 0 : limitFacts[limit].measure(this.#reserved);
    return this.#maxOf(limit) - this.#usedOf(limit, now) - reserved;
  }

  /** All limits and what was used of them. */
  states(now: number): readonly LimitState[] {
    return this.names.map((limit) => this.state(limit, now));
  }

  /** The first limit that has no room for these amounts; those that are set aside count as used unless they are said to be free. */
  lacks(amounts: Amounts, now: number, isReservedFree = false): LimitState | undefined {
    for (const limit of this.names) {
      const missing = limitFacts[limit].measure(amounts) - this.left(limit, now, isReservedFree);
      if (missing > this.#maxOf(limit) * roundingError) return this.state(limit, now);
    }
    return undefined;
  }

  /** The first limit of which more was used than may be. */
  overrun(now: number): LimitState | undefined {
    const limit = this.names.find((name) => this.left(name, now, true) < 0);
    return limit && this.state(limit, now);
  }

  /** The first limit that lets no further step begin. */
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

  /** Notes whether a step of tool calls went well; that decides about the streak of failures. */
  endStep(hasFailed: boolean): void {
    this.#counters.consecutiveExceptions = hasFailed ? this.#counters.consecutiveExceptions + 1 : 0;
  }

  setAside(amounts: Amounts): void {
    addTo(this.#reserved, amounts);
  }

  free(amounts: Amounts): void {
    addTo(this.#reserved, amounts, -1);
  }

  /** A turn begins; time runs while any does. */
  enter(at: number): void {
    if (this.#running === 0) this.#since = at;
    this.#running += 1;
  }

  leave(at: number): void {
    this.#running -= 1;
    if (this.#running === 0) this.#counters.durationMs += Math.max(0, at - this.#since);
  }

  /** Where nothing may be paid, what costs nothing may still be done. */
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
