import type { Folded } from '../text/fold.js';
import type { Region } from '../text/regions.js';
import { reach } from './requests.js';
import type { Sentence } from '../text/sentences.js';
import { wordingLevels, type Passage } from '../wording/worded-passages.js';

/** Returns the number of sentences that end at or before an offset of the original text. */
const endingUpTo = ({ at }: Folded, sentences: readonly Sentence[], offset: number): number => {
  let [low, high] = [0, sentences.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(sentences[middle]?.end ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * Returns a function that tells whether no request that begins with a sentence can be confirmed, since the wording of its
 * passages is that of ordinary English. Most sentences of most texts are, and rules need not read them.
 *
 * @param regions - in which requests count without their wording, in the original text
 */
export const ordinarySentences = (
  folded: Folded,
  sentences: readonly Sentence[],
  passages: readonly Passage[],
  regions: readonly Region[],
): ((index: number) => boolean) => {
  const isScored = new Uint8Array(sentences.length);
  const isOpen = new Uint8Array(sentences.length);
  for (const { score, isForeign, span } of passages) {
    const isPossible = isForeign || score >= wordingLevels.ordinary;
    isScored.fill(1, span.first, span.last + 1);
    if (isPossible) isOpen.fill(1, span.first, span.last + 1);
  }
  for (const { start, end } of regions) {
    let index = endingUpTo(folded, sentences, start);
    for (; index < sentences.length && folded.at(sentences[index]?.start ?? 0) < end; index += 1) isOpen[index] = 1;
  }
  return (index) => {
    for (let place = index; place < Math.min(index + reach, sentences.length); place += 1) {
      if (isOpen[place] === 1 || isScored[place] === 0) return false;
    }
    return true;
  };
};
