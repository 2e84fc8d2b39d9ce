/** Longer names are not compared. */
const maxLength = 128;

/**
 * Returns the candidate that a misspelled name most likely means, or `undefined` if none is similar.
 *
 * Candidates that differ only in case and separators match first. Candidates that end in the name come next
 * (`mcp__files__read` for `read`, `maxRetries` for `retries`). Last come those in which at most a third of the letters
 * differ.
 *
 * @example
 * ```ts
 * nearestName('max_step', ['maxSteps', 'maxCost']); // 'maxSteps'
 * ```
 */
export const nearestName = (name: string, candidates: readonly string[]): string | undefined => {
  if (name.length === 0 || name.length > maxLength) return undefined;
  const bare = bared(name);
  const same = candidates.find((candidate) => bared(candidate) === bare);
  if (same !== undefined) return same;
  const qualified = candidates.find(
    (candidate) => candidate.toLowerCase().endsWith(`_${name.toLowerCase()}`) || candidate.endsWith(capitalised(name)),
  );
  if (qualified !== undefined) return qualified;
  let best: string | undefined;
  let least = Math.floor(Math.max(3, bare.length) / 3) + 1;
  for (const candidate of candidates) {
    const distance = distanceBetween(bare, bared(candidate), least);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
};

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const bared = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** Returns the number of letters to insert, delete, replace or swap, but never more than `limit`. */
const distanceBetween = (left: string, right: string, limit: number): number => {
  if (Math.abs(left.length - right.length) >= limit) return limit;
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= right.length; j += 1) {
      const changed = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1);
      let cost = Math.min(changed, (row[j] as number) + 1, (next[j - 1] as number) + 1);
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
      if (swapped) cost = Math.min(cost, (before[j - 2] as number) + 1);
      next.push(cost);
    }
    [before, row] = [row, next];
  }
  return row[right.length] as number;
};
