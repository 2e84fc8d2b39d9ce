import { codeAt } from '../text/characters.js';
import { tailOf } from './key-name.js';

const lineFeed = 10;
const space = 32;
const apostrophe = 39;
const letterD = 100;
/** Maximum length of a word. */
const maxWord = 32;

/** Whether a code beyond ASCII is a letter, and not a sign of punctuation, an arrow or a part of a box. */
export const isForeignLetter = (code: number): boolean =>
  code > 191 && (code < 0x2000 || code > 0x2bff || code === 0x212a);

/** 1 for three letters of each of these words. */
const tableOf = (parts: string): Uint8Array => {
  const table = new Uint8Array(32_768);
  for (const part of parts.split(' ')) table[tailOf(part, 2)] = 1;
  return table;
};

/**
 * Creates a fast test of whether the last characters of a line may have one of some words, or any letter beyond ASCII.
 *
 * @param parts three letters of each word
 */
export const mentionTest = (parts: string, max: number): ((text: string, end: number) => boolean) => {
  const isPart = tableOf(parts);
  return (text, end) => {
    const floor = Math.max(0, end - max);
    let tail = 0;
    for (let index = end - 1; index >= floor; index -= 1) {
      const code = codeAt(text, index);
      if (code === lineFeed) return false;
      tail = ((code & 31) << 10) | (tail >> 5);
      if (isPart[tail] === 1 || isForeignLetter(code)) return true;
    }
    return false;
  };
};

/** The codes of `:;,!?`, which end a sentence or a part of it. */
const isSign = (code: number): boolean => code === 58 || code === 59 || code === 44 || code === 33 || code === 63;

/**
 * Creates a test like {@link mentionTest} that looks back over a number of words of usual length, without signs between
 * them. Only a French word behind `d'` may have signs.
 */
export const sentenceTest = (
  parts: string,
  { max, maxWords }: { readonly max: number; readonly maxWords: number },
): ((text: string, end: number) => boolean) => {
  const isPart = tableOf(parts);
  return (text, end) => {
    const floor = Math.max(0, end - max);
    let tail = 0;
    let words = 0;
    let wordEnd = end;
    let isUnusual = false;
    for (let index = end - 1; index >= floor; index -= 1) {
      const code = codeAt(text, index);
      tail = ((code & 31) << 10) | (tail >> 5);
      if (isPart[tail] === 1 || isForeignLetter(code)) return true;
      if (code === space) {
        words += 1;
        const isElided = (codeAt(text, index + 1) | 32) === letterD && codeAt(text, index + 2) === apostrophe;
        if (words > maxWords || ((isUnusual || wordEnd - index > maxWord + 1) && !isElided)) return false;
        wordEnd = index;
        isUnusual = false;
      } else if (code < space) return false;
      else if (isSign(code)) isUnusual = true;
    }
    return false;
  };
};
