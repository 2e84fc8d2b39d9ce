/** Longest name that is compared; longer ones resemble nothing. */
const maxLength = 128;

/**
 * The name that a misspelt one most likely means, or `undefined` when none is near.
 *
 * Names that differ only in case and separators are nearest, then those that end in the given one (`mcp__files__read` for
 * `read`, `maxRetries` for `retries`), then those that a third of the letters, at most, tells apart.
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

/** How many letters have to be added, left out, changed or swapped; `limit` when it is that many or more. */
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
