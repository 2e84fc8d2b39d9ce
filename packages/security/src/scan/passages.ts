import type { Folded } from './fold.js';
import type { Region } from './regions.js';
import type { Sentence } from './sentences.js';

/** Length up to which a paragraph or an item of a list is one passage. */
const maxLength = 300;
/** Number of sentences of a passage in a longer paragraph; each starts two sentences after the one before. */
const window = 3;
const minLength = 12;

/** Splits a text into the passages to score: items, short paragraphs, and parts of long ones. */
export const passagesOf = (
  { text }: Folded,
  sentences: readonly Sentence[],
): readonly (Region & Pick<Sentence, 'second'>)[] => {
  const passages: (Region & Pick<Sentence, 'second'>)[] = [];
  let index = 0;
  while (index < sentences.length) {
    const first = sentences[index];
    if (first === undefined) break;
    let last = index;
    while (sentences[last + 1]?.item === first.item) last += 1;
    const end = sentences[last]?.end ?? first.end;
    if (end - first.start <= maxLength) {
      if (end - first.start >= minLength) {
        passages.push({
          start: first.start,
          end: Math.min(end, text.length),
          second: languagesOf(sentences, index, last),
        });
      }
    } else {
      for (let from = index; from <= last; from += 2) {
        const start = sentences[from]?.start ?? 0;
        const final = Math.min(last, from + window - 1);
        const until = sentences[final]?.end ?? start;
        passages.push({
          start,
          end: Math.min(until, start + 2 * maxLength),
          second: languagesOf(sentences, from, final),
        });
      }
    }
    index = last + 1;
  }
  return passages;
};

const languagesOf = (sentences: readonly Sentence[], first: number, last: number): number => {
  let bits = 0;
  for (let index = first; index <= last; index += 1) bits |= sentences[index]?.second ?? 0;
  return bits;
};
