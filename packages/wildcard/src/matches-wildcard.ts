/**
 * Returns whether a pattern matches the whole text. `*` matches any characters, or none; all other characters match
 * themselves. Upper and lower case differ.
 *
 * Each part between two stars is searched once, from left to right, so that no pattern or text leads to backtracking.
 *
 * @param allows - whether a star may match this UTF-16 code unit; by default it matches all of them. Parts match at
 * their earliest position, so a text in which only a later position would be allowed does not match.
 *
 * @example
 * ```ts
 * matchesWildcard('mcp__*__read', 'mcp__files__read'); // true
 * matchesWildcard('src/*.ts', 'src/a/b.ts', (character) => character !== '/'); // false
 * ```
 */
export const matchesWildcard = (pattern: string, text: string, allows?: (character: string) => boolean): boolean => {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return first === text;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let place = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, place);
    if (found === -1 || found + part.length > end || !isAllowed(text, place, found, allows)) return false;
    place = found + part.length;
  }
  return isAllowed(text, place, end, allows);
};

/** Returns whether one of the patterns matches the whole text: see {@link matchesWildcard}. */
export const matchesAny = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) => matchesWildcard(pattern, text));

const isAllowed = (
  text: string,
  from: number,
  to: number,
  allows: ((character: string) => boolean) | undefined,
): boolean => {
  if (allows === undefined) return true;
  for (let index = from; index < to; index += 1) if (!allows(text.charAt(index))) return false;
  return true;
};
