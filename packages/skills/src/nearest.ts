/** Maximum number of suggestions. */
const maxSuggestions = 5;

/** Returns the most similar names: those that contain the word or the reverse, then by common letter pairs. */
export const nearestNames = (word: string, names: readonly string[]): readonly string[] => {
  const given = word.toLowerCase().slice(0, 64);
  const pairs = pairsOf(given);
  return names
    .map((name) => ({
      name,
      likeness: given !== '' && (name.includes(given) || given.includes(name)) ? 1 : overlap(pairs, pairsOf(name)),
    }))
    .filter(({ likeness }) => likeness >= 0.4)
    .toSorted((left, right) => right.likeness - left.likeness)
    .slice(0, maxSuggestions)
    .map(({ name }) => name);
};

const pairsOf = (text: string): ReadonlySet<string> =>
  new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2)));

const overlap = (left: ReadonlySet<string>, right: ReadonlySet<string>): number => {
  let shared = 0;
  for (const pair of left) if (right.has(pair)) shared += 1;
  return left.size + right.size === 0 ? 0 : (2 * shared) / (left.size + right.size);
};
