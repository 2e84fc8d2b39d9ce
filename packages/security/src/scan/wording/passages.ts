import type { Sentence } from '../text/sentences.js';

/** Adjacent sentences that are scored as one passage, by index. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** Length up to which a paragraph or an item of a list is one passage. */
const maxLength = 300;
/** Number of sentences of a passage in a longer paragraph; each starts two sentences after the one before. */
const window = 3;
const minLength = 12;

/** Splits a text into the passages to score: items, short paragraphs, and parts of long ones. */
export const passagesOf = (sentences: readonly Sentence[]): readonly Span[] => {
  const passages: Span[] = [];
  let first = 0;
  while (first < sentences.length) {
    const { item, start } = sentences[first] ?? { item: 0, start: 0 };
    let last = first;
    while (sentences[last + 1]?.item === item) last += 1;
    const length = (sentences[last]?.end ?? start) - start;
    if (length > maxLength) {
      for (let from = first; from <= last; from += 2) {
        passages.push({ first: from, last: Math.min(last, from + window - 1) });
      }
    } else if (length >= minLength) {
      passages.push({ first, last });
    }
    first = last + 1;
  }
  return passages;
};
