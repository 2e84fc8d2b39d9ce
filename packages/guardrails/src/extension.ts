import { limitFacts, type Allowance, type LimitName } from './limits.js';

/** Limits that an extension may raise: all but that on a streak of failures, which would defeat it. */
export type ExtendableLimit = Exclude<LimitName, 'maxConsecutiveExceptions'>;

/** How limits grow with every answer with which the model was done. */
export interface Extension {
  /**
   * With `e` the limit after `n` completions is `base + (1 + e) × n`. `0` is off.
   *
   * A limit that is not counted in steps or calls (tokens, cost, time, characters) grows by the same share as `maxSteps`
   * does, which therefore has to be limited too.
   */
  readonly perCompletion: number;
  /** Which limits grow; no others do. */
  readonly limits: readonly ExtendableLimit[];
  /**
   * How many times the base a limit may become.
   *
   * @defaultValue `2`
   */
  readonly maxFactor?: number | undefined;
}

/**
 * A limit as it stands after so many completions.
 *
 * @example
 * ```ts
 * const extension = { perCompletion: 0.5, limits: ['maxSteps'] } as const;
 * effectiveLimit({ maxSteps: 5, extension }, 'maxSteps', 2); // 8
 * ```
 */
export const effectiveLimit = (allowance: Allowance, limit: LimitName, completions = 0): number => {
  const base = allowance[limit] ?? Infinity;
  const { extension } = allowance;
  if (extension === undefined || extension.perCompletion === 0 || completions === 0 || base === Infinity) return base;
  if (!extension.limits.some((name) => name === limit)) return base;
  const units = (1 + extension.perCompletion) * completions;
  const raised = limitFacts[limit].isCounted ? base + units : base * (1 + units / (allowance.maxSteps ?? Infinity));
  return Math.min(raised, base * (extension.maxFactor ?? 2));
};
