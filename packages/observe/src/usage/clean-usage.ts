import { noUsage, type Usage } from '@h/turn';

/**
 * A usage that can be added up, whatever was counted: `input` includes what was read from and written to the cache,
 * `output` includes reasoning. What is absent, no number, or no number that could be true is 0.
 *
 * @example
 * ```ts
 * cleanUsage({ input: Number.NaN, cacheRead: 90 }); // { input: 90, cacheRead: 90, cacheWrite: 0, output: 0, reasoning: 0 }
 * ```
 */
export const cleanUsage = (usage: Partial<Usage> | null | undefined): Usage => {
  if (usage === undefined || usage === null) return noUsage;
  const cacheRead = count(usage.cacheRead);
  const cacheWrite = count(usage.cacheWrite);
  const reasoning = count(usage.reasoning);
  const input = Math.max(count(usage.input), cacheRead + cacheWrite);
  const output = Math.max(count(usage.output), reasoning);
  return { input, cacheRead, cacheWrite, output, reasoning };
};

/** More than anybody uses, and little enough that any number of calls can be added. */
const most = Number.MAX_SAFE_INTEGER;

const count = (value: unknown): number => (typeof value === 'number' && value > 0 && value <= most ? value : 0);

/** Whether anything was counted at all. */
export const isEmptyUsage = ({ input, output }: Usage): boolean => input === 0 && output === 0;

/** The share of the input that came from the cache, from 0 to 1; `undefined` without input. */
export const cacheHitRate = ({ input, cacheRead }: Usage): number | undefined =>
  input > 0 ? cacheRead / input : undefined;
