/**
 * Tokens of a model call, as providers report them. `input` includes `cacheRead` and `cacheWrite`; `output` includes
 * `reasoning`.
 */
export interface TokenUsage {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

/**
 * Larger counts are errors of a provider. Any number of calls below it can be added without losing precision that
 * matters.
 */
const maxCount = Number.MAX_SAFE_INTEGER;

/**
 * Returns a consistent usage: missing, negative, non-finite and implausible counts become 0, `input` is at least what
 * was read from and written to the cache, and `output` is at least `reasoning`.
 *
 * @example
 * ```ts
 * cleanUsage({ input: Number.NaN, cacheRead: 90 }); // { input: 90, cacheRead: 90, cacheWrite: 0, output: 0, reasoning: 0 }
 * ```
 */
export const cleanUsage = (usage: Partial<TokenUsage> | null | undefined): TokenUsage => {
  const cacheRead = count(usage?.cacheRead);
  const cacheWrite = count(usage?.cacheWrite);
  const reasoning = count(usage?.reasoning);
  const input = Math.max(count(usage?.input), cacheRead + cacheWrite);
  const output = Math.max(count(usage?.output), reasoning);
  return { input, cacheRead, cacheWrite, output, reasoning };
};

const count = (value: unknown): number => (typeof value === 'number' && value > 0 && value <= maxCount ? value : 0);

/** Returns whether neither input nor output was counted. */
export const isEmptyUsage = ({ input, output }: TokenUsage): boolean => input === 0 && output === 0;

/** Returns the share of the input that was read from the cache, from 0 to 1, or `undefined` without input. */
export const cacheHitRate = ({ input, cacheRead }: TokenUsage): number | undefined =>
  input > 0 ? cacheRead / input : undefined;
