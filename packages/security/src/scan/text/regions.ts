/** A span of a text. */
export interface Region {
  readonly start: number;
  readonly end: number;
}

/** Returns fenced code blocks and inline code. */
export const codeRegions = (text: string): readonly Region[] => {
  const fences = fencedBlocks(text);
  return [...fences, ...all(text, /`[^`\n]{1,400}`/g)];
};

/** Returns fenced code blocks. */
export const fencedBlocks = (text: string): readonly Region[] => {
  const blocks: Region[] = [];
  let open: number | undefined;
  for (const { 0: match, index } of text.matchAll(/^[ \t]{0,12}(?:```|~~~)[^\n]{0,200}$/gm)) {
    if (open === undefined) open = index;
    else {
      blocks.push({ start: open, end: index + match.length });
      open = undefined;
    }
  }
  return blocks;
};

/** Returns all matches of a pattern as regions. */
export const all = (text: string, pattern: RegExp): readonly Region[] =>
  Array.from(text.matchAll(pattern), ({ 0: match, index }) => ({ start: index, end: index + match.length }));

/**
 * Returns whether a text contains `min` consecutive characters of a class. Reads every `min`-th character, because such
 * a run covers one of them; a pre-test for expressions that would try every character.
 */
export const hasRun = (text: string, min: number, isMember: (code: number) => boolean): boolean => {
  for (let probe = min - 1; probe < text.length; probe += min) {
    if (!isMember(text.charCodeAt(probe))) continue;
    let start = probe;
    while (start > 0 && probe - start < min && isMember(text.charCodeAt(start - 1))) start -= 1;
    let end = probe + 1;
    while (end < text.length && end - start < min && isMember(text.charCodeAt(end))) end += 1;
    if (end - start >= min) return true;
  }
  return false;
};

/** A class of characters: 1 for each member of ASCII, and for all others at the end. */
export type Characters = Uint8Array;

/** Creates a class of the characters that a pattern matches in ASCII, and of all others or none. */
export const charactersOf = (pattern: RegExp, isBeyond: boolean): Characters =>
  Uint8Array.from({ length: 129 }, (_, code) =>
    (code < 128 ? pattern.test(String.fromCharCode(code)) : isBeyond) ? 1 : 0,
  );

/** Whether a class contains a character. */
export const isMember = (members: Characters, code: number): boolean => members[code < 128 ? code : 128] === 1;

/**
 * Returns the longest runs of at least `min` consecutive characters of a class. Reads as few characters as `hasRun`.
 */
export const runsOf = (text: string, min: number, members: Characters): readonly Region[] => {
  const runs: Region[] = [];
  let probe = min - 1;
  while (probe < text.length) {
    let start = probe + 1;
    while (start > 0 && isMember(members, text.charCodeAt(start - 1))) start -= 1;
    let end = probe + 1;
    while (start < end && end < text.length && isMember(members, text.charCodeAt(end))) end += 1;
    if (end - start >= min && start <= probe) runs.push({ start, end });
    probe = Math.max(probe, end - 1) + min;
  }
  return runs;
};

// oxlint-disable-next-line no-control-regex -- all of ASCII
const beyondAscii = /[^\x00-\x7f]/;

/** Whether a text has no character beyond ASCII. */
export const isAscii = (text: string): boolean => !beyondAscii.test(text);

/** Returns a function that finds a region that contains at least a share of a place. Regions may overlap. */
export const regionLookup = <Kind extends Region>(
  regions: readonly Kind[],
  share = 0,
): ((place: Region) => Kind | undefined) => {
  const sorted = regions.toSorted((one, other) => one.start - other.start);
  return ({ start, end }) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle]?.start ?? 0) < end) low = middle + 1;
      else high = middle;
    }
    const least = share * (end - start);
    // Few regions overlap, so the last ones that begin before the place are enough.
    return sorted
      .slice(Math.max(0, low - 4), low)
      .find((region) => region.end > start && Math.min(end, region.end) - Math.max(start, region.start) >= least);
  };
};

/** Returns a function that tells whether a place is in code. Reads the text for the first place. */
export const codeLookup = (text: string): ((place: Region) => boolean) => {
  let lookup: ((place: Region) => Region | undefined) | undefined;
  return (place) => (lookup ??= regionLookup(codeRegions(text)))(place) !== undefined;
};
