/**
 * A text in which look-alike characters are equal, with the positions of the original.
 *
 * Every character corresponds to exactly one of the original; the `\r` of `\r\n` is removed.
 */
export interface NormalizedText {
  readonly text: string;
  /** Returns the original position of a position in `text`. A `\n` maps to the `\r` before it, if that was removed. */
  readonly originalIndex: (index: number) => number;
}

const lookalikes: Readonly<Record<string, string>> = {
  "'": '\u2018\u2019\u201A\u201B\u2032\u00B4',
  '"': '\u201C\u201D\u201E\u201F\u2033\u00AB\u00BB',
  '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212',
  ' ': '\u00A0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200A\u202F\u205F\u3000',
};

const plain: ReadonlyMap<string, string> = new Map(
  Object.entries(lookalikes).flatMap(([simple, others]) => Array.from(others, (other) => [other, simple] as const)),
);
const fancy = new RegExp(`[${[...plain.keys()].join('')}]`, 'gu');

/** Returns the text with `\n` for `\r\n`. */
export const withPlainLineEnds = (text: string): NormalizedText => {
  const removed: number[] = [];
  for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n', at + 2)) removed.push(at - removed.length);
  if (removed.length === 0) return { text, originalIndex: (index) => index };
  return { text: text.replaceAll('\r\n', '\n'), originalIndex: (index) => index + countBefore(removed, index) };
};

/** Returns the text with `\n` for `\r\n`, and with ASCII quotes, dashes and spaces for typographic ones. */
export const withPlainCharacters = (text: string): NormalizedText => {
  const lines = withPlainLineEnds(text);
  return {
    text: lines.text.replace(fancy, (character) => plain.get(character) ?? character),
    originalIndex: lines.originalIndex,
  };
};

/** Returns how many of these sorted numbers are smaller than `limit`. */
const countBefore = (sorted: readonly number[], limit: number): number => {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
};
