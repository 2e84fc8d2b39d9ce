/** A stretch of a text. */
export interface Region {
  readonly start: number;
  readonly end: number;
}

const maxRegion = 20_000;

/** What a file shows to nobody who looks at it rendered: comments, reference definitions that define nothing, hidden elements. */
export const hiddenRegions = (text: string): readonly Region[] =>
  [
    ...between(text, /<!--/g, '-->'),
    ...all(text, /^ {0,3}\[(?:\/\/|comment|_|#)\]:? ?#? ?[("'][^\n]{0,4000}$/gim),
    ...all(
      text,
      /<(\w{1,20})\b[^<>]{0,300}?(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0(?![.\d])|color\s{0,3}:\s{0,3}(?:white|#fff(?:fff)?|transparent)\b|\shidden\b)[^<>]{0,300}>[^<]{0,4000}/gi,
    ),
  ].toSorted((one, other) => one.start - other.start);

/** What stands in code: fenced blocks and code in lines. */
export const codeRegions = (text: string): readonly Region[] => {
  const fences = fencedBlocks(text);
  return [...fences, ...all(text, /`[^`\n]{1,400}`/g)];
};

const fencedBlocks = (text: string): readonly Region[] => {
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

const between = (text: string, opening: RegExp, closing: string): readonly Region[] => {
  const regions: Region[] = [];
  let last = 0;
  for (const { index } of text.matchAll(opening)) {
    if (index < last) continue;
    const close = text.slice(index, index + maxRegion).indexOf(closing);
    last = close === -1 ? Math.min(text.length, index + maxRegion) : index + close + closing.length;
    regions.push({ start: index, end: last });
  }
  return regions;
};

const all = (text: string, pattern: RegExp): readonly Region[] =>
  Array.from(text.matchAll(pattern), ({ 0: match, index }) => ({ start: index, end: index + match.length }));

/** Looks up whether a place lies in one of the regions, which may overlap. */
export const regionLookup = (regions: readonly Region[]): ((place: Region) => Region | undefined) => {
  const sorted = regions.toSorted((one, other) => one.start - other.start);
  return ({ start, end }) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle]?.start ?? 0) < end) low = middle + 1;
      else high = middle;
    }
    // Regions that overlap are few: the last ones that begin before decide.
    return sorted.slice(Math.max(0, low - 4), low).find((region) => region.end > start);
  };
};
