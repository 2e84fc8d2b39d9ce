import { matchesAny } from '@h/wildcard';

/** Aliases: from alias to name. */
export type Aliases = Readonly<Record<string, string>>;

/**
 * Returns the patterns that two lists both allow; `null` allows everything, `[]` nothing.
 *
 * If one pattern covers another, the narrower one remains. Patterns that only overlap (`a*`, `*b`) are dropped, so the
 * result may be narrower than both lists, but is never wider than one of them.
 */
export const intersect = (one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null => {
  if (one === null || other === null) return distinct(one ?? other);
  const covered = (inner: readonly string[], outer: readonly string[]): readonly string[] =>
    inner.filter((pattern) => matchesAny(outer, pattern));
  return unite(covered(one, other), covered(other, one));
};

const distinct = (patterns: readonly string[] | null): readonly string[] | null => patterns && unite(patterns, []);

export const unite = (one: readonly string[], other: readonly string[]): readonly string[] =>
  [...new Set([...one, ...other])].toSorted();

/** Resolves an alias to the name of its tool. */
export const canonical = (name: string, aliases: Aliases): string => {
  const seen = new Set<string>();
  let current = name;
  while (Object.hasOwn(aliases, current) && !seen.has(current)) {
    seen.add(current);
    current = aliases[current] ?? current;
  }
  return current;
};

/** Resolves patterns that allow, to names. */
export const allowing = (patterns: readonly string[], aliases: Aliases): readonly string[] =>
  patterns.map((pattern) => canonical(pattern, aliases));

/** Resolves patterns that deny: a pattern that matches an alias denies the tool. */
export const forbidding = (patterns: readonly string[], aliases: Aliases): readonly string[] => [
  ...new Set([
    ...patterns,
    ...patterns.map((pattern) => canonical(pattern, aliases)),
    ...Object.keys(aliases)
      .filter((alias) => matchesAny(patterns, alias))
      .map((alias) => canonical(alias, aliases)),
  ]),
];
