import { letterBias, letterWeights } from './letter-weights.js';
import { FeatureSet, specialClass } from './wording.js';

/** Number of bits of a feature. */
export const letterBits = 14;

/** Damps the scores of short sentences. */
const damping = 60;

/** Words of alphabets, runs of Chinese and Japanese characters, Korean words, addresses, paths, numbers and signs. */
const token =
  /[a-z\u00df-\u052f']+(?![\w\u00df-\u052f'.+@:/-])|[\u3040-\u30ff\u3400-\u9fff]+|[\uac00-\ud7af]+|https?:\/\/[^\s)>"']+|[\w.+-]+@[\w-]+\.\w[\w.]*|~?\/?(?:[\w.-]+\/)+[\w.-]+|\.[a-z]\w+|[a-z\u00df-\u052f']+|\d+|["`?!:]/g;

/** The least and the largest length of a sequence in a token, the length of its beginning, and whether it has ends. */
const alphabet = { least: 3, most: 5, beginning: 4, isWord: true } as const;
const ideographs = { least: 1, most: 3, beginning: 2, isWord: false } as const;
const syllables = { least: 2, most: 4, beginning: 2, isWord: true } as const;

const mixed = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193);
const featureOf = (hash: number): number => {
  const next = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  const last = Math.imul(next ^ (next >>> 12), 0x297a2d39);
  return (last ^ (last >>> 15)) >>> (32 - letterBits);
};

/**
 * Lists the sequences of letters of a sentence, which inflected words share, and the beginnings of two adjacent words.
 *
 * @param sentence - folded
 */
export const letterFeatures = (sentence: string, emit: (feature: number) => void): void => {
  let before = 0;
  const emitPair = (hash: number): void => {
    if (before !== 0) emit(featureOf(mixed(mixed(13, before), hash)));
    before = hash;
  };
  for (const found of sentence.match(token) ?? []) {
    const special = specialClass(found)?.[0];
    if (special !== undefined) {
      emit(featureOf(mixed(77, special)));
      emitPair(mixed(5, special));
      continue;
    }
    const code = found.charCodeAt(0);
    const { least, most, beginning, isWord } = code < 0x3040 ? alphabet : code < 0xac00 ? ideographs : syllables;
    const text = isWord ? ` ${found} ` : found;
    for (let start = 0; start < text.length; start += 1) {
      const end = Math.min(text.length, start + most);
      let hash = 7;
      for (let index = start; index < end; index += 1) {
        hash = mixed(hash, text.charCodeAt(index));
        if (index - start + 1 >= least) emit(featureOf(hash));
      }
    }
    let hash = 3;
    for (let index = 0; index < Math.min(found.length, beginning); index += 1) {
      hash = mixed(hash, found.charCodeAt(index));
    }
    emitPair(hash);
  }
};

/**
 * Scores the letters of sentences in the languages of the training data besides English. Added to the score of their
 * words, which few sentences share in languages with many inflections.
 */
export class LetterScorer {
  readonly #counted = new FeatureSet(letterBits);
  #sum = 0;
  #count = 0;

  readonly #add = (feature: number): void => {
    if (!this.#counted.add(feature)) return;
    this.#sum += letterWeights[feature] ?? 0;
    this.#count += 1;
  };

  scoreOf(sentence: string): number {
    this.#counted.clear();
    this.#sum = 0;
    this.#count = 0;
    letterFeatures(sentence, this.#add);
    return letterBias + this.#sum / Math.sqrt(this.#count + damping);
  }
}
