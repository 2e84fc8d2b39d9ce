/**
 * A text in which things that look alike are alike, and the way back from a place in it to the place in the original.
 *
 * Every character stands for exactly one of the original, except that the `\r` of `\r\n` is left out.
 */
export interface NormalisedText {
  readonly text: string;
  /** The place in the original of a place in `text`. The place of a `\n` is that of the `\r` before it, if that was left out. */
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

/** The text with `\n` for `\r\n`. */
export const withPlainLineEnds = (text: string): NormalisedText => {
  const removed: number[] = [];
  for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n', at + 2)) removed.push(at - removed.length);
  if (removed.length === 0) return { text, originalIndex: (index) => index };
  return { text: text.replaceAll('\r\n', '\n'), originalIndex: (index) => index + countBefore(removed, index) };
};

/** The text with `\n` for `\r\n`, and with plain quotes, dashes and spaces for those of typographers. */
export const withPlainCharacters = (text: string): NormalisedText => {
  const lines = withPlainLineEnds(text);
  return {
    text: lines.text.replace(fancy, (character) => plain.get(character) ?? character),
    originalIndex: lines.originalIndex,
  };
};

/** How many of these sorted numbers are smaller than `limit`. */
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
