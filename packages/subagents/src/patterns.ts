/** Names by which one thing is known besides its own: other name → own name. */
export type Aliases = Readonly<Record<string, string>>;

/** Whether a pattern, in which `*` stands for any letters, matches a name. At most `pattern × name` comparisons, whatever they are. */
export const matches = (pattern: string, name: string): boolean => {
  let at = 0;
  let star = -1;
  let retryFrom = 0;
  let index = 0;
  while (index < name.length) {
    if (pattern[at] === '*') {
      star = at;
      retryFrom = index;
      at += 1;
    } else if (at < pattern.length && pattern[at] === name[index]) {
      at += 1;
      index += 1;
    } else if (star >= 0) {
      retryFrom += 1;
      at = star + 1;
      index = retryFrom;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
};

export const matchesAny = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => matches(pattern, name));

/**
 * What two lists of patterns both allow; `null` allows everything, `[]` nothing.
 *
 * If one pattern covers another, the narrower one remains. Patterns that merely overlap (`a*`, `*b`) leave nothing: the list may
 * come out narrower than both, never wider than one.
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

/** Patterns that allow: by own names. */
export const allowing = (patterns: readonly string[], aliases: Aliases): readonly string[] =>
  patterns.map((pattern) => canonical(pattern, aliases));

/** Patterns that forbid: what matches another name of a thing forbids the thing. */
export const forbidding = (patterns: readonly string[], aliases: Aliases): readonly string[] => [
  ...new Set([
    ...patterns,
    ...patterns.map((pattern) => canonical(pattern, aliases)),
    ...Object.keys(aliases)
      .filter((alias) => matchesAny(patterns, alias))
      .map((alias) => canonical(alias, aliases)),
  ]),
];
