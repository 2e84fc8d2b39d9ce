/** Number of words in a sample. */
const maxWords = 16;

/** A sample of the words of a text, which suffices to estimate how alike two texts are: the words with the smallest hashes. */
export class WordSample {
  /** The different hashes in ascending order. */
  readonly hashes: number[] = [];

  /** @param hash a hash of 20 bits that is distributed evenly */
  add(hash: number): void {
    const { hashes } = this;
    let at = hashes.length;
    if (at === maxWords && hash >= (hashes[at - 1] as number)) return;
    while (at > 0 && (hashes[at - 1] as number) > hash) at -= 1;
    if (at > 0 && hashes[at - 1] === hash) return;
    for (let last = Math.min(hashes.length, maxWords - 1); last > at; last -= 1) {
      hashes[last] = hashes[last - 1] as number;
    }
    hashes[at] = hash;
  }
}

/** Estimates which share of their words two texts have in common, from 0 to 1. */
export const similarity = (left: readonly number[], right: readonly number[]): number => {
  const limit = Math.max(left.length, right.length) >= maxWords ? maxWords : Infinity;
  let [at, behind, both, all] = [0, 0, 0, 0];
  while ((at < left.length || behind < right.length) && all < limit) {
    const one = left[at] ?? Infinity;
    const two = right[behind] ?? Infinity;
    if (one === two) both += 1;
    if (one <= two) at += 1;
    if (two <= one) behind += 1;
    all += 1;
  }
  return all === 0 ? 1 : both / all;
};
