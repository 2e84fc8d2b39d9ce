/** A compiled glob pattern. */
export interface GlobPattern {
  /** Whether the pattern ends with `/` and matches only folders. */
  readonly foldersOnly: boolean;
  /** Patterns of the last name, at least one of which it matches; `undefined` if any name is possible. */
  readonly lastNames: readonly string[] | undefined;
  /** Returns whether a relative path with `/` matches. */
  matches(path: string): boolean;
  /** Returns whether an entry below this folder could match; with `false` the folder need not be searched. */
  mayMatchBelow(folder: string): boolean;
}

/** An invalid glob pattern; the message is the reason. */
export class GlobPatternError extends Error {
  override readonly name = 'GlobPatternError';
  readonly code = 'invalid-pattern';
}

const maxChars = 1_000;
const maxAlternatives = 256;

type Token =
  | { readonly kind: 'any' | 'star' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'class'; readonly has: (character: string) => boolean };

/** One name of a pattern; `**` matches any number of names. */
type Segment = '**' | readonly Token[];

/**
 * Compiles a glob pattern: `*` and `?` within a name, `**` across folders, `[a-z]` and `[!a-z]`, `{a,b}`, `\` to escape
 * a character. Names that start with a dot match like others. A pattern without `/` matches the last name of a path in
 * any folder; with `./` in front, only in the first folder.
 *
 * No regular expression is used: for any placement of stars, the time is proportional to the length of the pattern
 * times that of the path.
 *
 * @throws GlobPatternError
 */
export const compileGlob = (pattern: string): GlobPattern => {
  if (pattern.length > maxChars) {
    throw new GlobPatternError(`The pattern has ${pattern.length} characters; the limit is ${maxChars}.`);
  }
  const foldersOnly = pattern.endsWith('/');
  const written = expandBraces(foldersOnly ? pattern.replace(/\/+$/u, '') : pattern);
  const alternatives = written.map(segmentsOf);
  const lastNames = written.map((alternative) => alternative.slice(alternative.lastIndexOf('/') + 1));
  return {
    foldersOnly,
    lastNames: lastNames.some((name) => name === '**' || name === '') ? undefined : lastNames,
    matches: (path) => {
      const names = path.split('/');
      return alternatives.some((segments) => matchSegments(segments, names));
    },
    mayMatchBelow: (folder) => {
      const names = folder.split('/');
      return alternatives.some((segments) => mayBegin(segments, names));
    },
  };
};

/** Expands braces into all alternatives. */
const expandBraces = (pattern: string): readonly string[] => {
  let done: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    if (done.length + open.length > maxAlternatives) {
      throw new GlobPatternError(`The braces expand to more than ${maxAlternatives} patterns; use fewer alternatives.`);
    }
    const next: string[] = [];
    for (const candidate of open) {
      const group = firstGroup(candidate);
      if (group === undefined) done = [...done, candidate];
      else {
        for (const part of group.parts) next.push(candidate.slice(0, group.start) + part + candidate.slice(group.end));
      }
    }
    open = next;
  }
  return done;
};

/** Finds the first `{…}` that contains a comma; others are plain characters. */
const firstGroup = (
  pattern: string,
): { readonly start: number; readonly end: number; readonly parts: readonly string[] } | undefined => {
  const stack: { start: number; commas: number[] }[] = [];
  let found: { start: number; end: number; parts: string[] } | undefined;
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '\\') at += 1;
    else if (character === '{') stack.push({ start: at, commas: [] });
    else if (character === ',') stack.at(-1)?.commas.push(at);
    else if (character === '}') {
      const group = stack.pop();
      if (group === undefined || group.commas.length === 0) continue;
      const cuts = [group.start, ...group.commas, at];
      found = {
        start: group.start,
        end: at + 1,
        parts: cuts.slice(1).map((cut, index) => pattern.slice((cuts[index] as number) + 1, cut)),
      };
      if (stack.length === 0) return found;
    }
  }
  return found;
};

const segmentsOf = (pattern: string): readonly Segment[] => {
  const names = pattern.split('/').filter((name) => name !== '' && name !== '.');
  if (names.length === 0) {
    throw new GlobPatternError('The pattern, or an alternative in its braces, is empty; remove it.');
  }
  if (names.includes('..')) {
    throw new GlobPatternError('The pattern contains "..", which is not allowed; set path instead.');
  }
  const segments = names.map((name): Segment => (name === '**' ? '**' : tokensOf(name)));
  return pattern.includes('/') ? segments : ['**', ...segments];
};

const tokensOf = (name: string): readonly Token[] => {
  const tokens: Token[] = [];
  const characters = Array.from(name);
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    const group = character === '[' ? classAt(characters, at) : undefined;
    if (group !== undefined) {
      tokens.push({ kind: 'class', has: group.has });
      at = group.end;
    } else if (character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (character === '?') {
      tokens.push({ kind: 'any' });
    } else {
      if (character === '\\' && at + 1 < characters.length) at += 1;
      tokens.push({ kind: 'text', text: characters[at] as string });
    }
  }
  return tokens;
};

/** Parses the set of characters `[…]` at this index; `undefined` if it is not closed and thus a plain character. */
const classAt = (
  characters: readonly string[],
  start: number,
): { readonly has: (character: string) => boolean; readonly end: number } | undefined => {
  const isNegated = characters[start + 1] === '!' || characters[start + 1] === '^';
  const ranges: (readonly [string, string])[] = [];
  const first = start + (isNegated ? 2 : 1);
  for (let at = first; at < characters.length; at += 1) {
    if (characters[at] === ']' && at > first) {
      return {
        has: (character) => ranges.some(([low, high]) => low <= character && character <= high) !== isNegated,
        end: at,
      };
    }
    if (characters[at] === '\\') at += 1;
    const low = characters[at];
    if (low === undefined) return undefined;
    const isRange = characters[at + 1] === '-' && characters[at + 2] !== ']';
    ranges.push([low, isRange ? (characters[at + 2] as string) : low]);
    if (isRange) at += 2;
  }
  return undefined;
};

/** At the end of a pattern, `**` matches the content of a folder, not the folder itself. */
const matchSegments = (segments: readonly Segment[], names: readonly string[]): boolean =>
  matchStars(segments, names, {
    isStar: (segment) => segment === '**',
    fits: (segment, name) => segment !== '**' && matchName(segment, name),
  }) === segments.length;

const matchName = (tokens: readonly Token[], name: string): boolean => {
  const matched = matchStars(tokens, Array.from(name), { isStar: (token) => token.kind === 'star', fits });
  return matched !== undefined && tokens.slice(matched).every((token) => token.kind === 'star');
};

interface StarRules<Part, Item> {
  readonly isStar: (part: Part) => boolean;
  readonly fits: (part: Part, item: Item) => boolean;
}

/**
 * Returns how many parts of a pattern match all items; `undefined` if they cannot. A star as the last part matches all
 * remaining items.
 *
 * On a mismatch, the last star matches one more item. Backtracking to the last star is sufficient, because it can match
 * every item that an earlier star could.
 */
const matchStars = <Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  { isStar, fits }: StarRules<Part, Item>,
): number | undefined => {
  let at = 0;
  let afterStar: number | undefined;
  let taken = 0;
  for (let index = 0; index < items.length;) {
    const part = parts[at];
    if (part !== undefined && isStar(part)) {
      at += 1;
      if (at === parts.length) return at;
      afterStar = at;
      taken = index;
    } else if (part !== undefined && fits(part, items[index] as Item)) {
      at += 1;
      index += 1;
    } else if (afterStar !== undefined) {
      taken += 1;
      index = taken;
      at = afterStar;
    } else return undefined;
  }
  return at;
};

const fits = (token: Token, character: string): boolean => {
  if (token.kind === 'text') return token.text === character;
  return token.kind === 'any' || (token.kind === 'class' && token.has(character));
};

const mayBegin = (segments: readonly Segment[], names: readonly string[]): boolean => {
  for (const [index, name] of names.entries()) {
    const segment = segments[index];
    if (segment === '**') return true;
    if (segment === undefined || !matchName(segment, name)) return false;
  }
  return segments.length > names.length;
};
