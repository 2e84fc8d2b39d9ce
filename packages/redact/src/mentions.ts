import { tailOf } from './key-name.js';

const lineFeed = 10;

/** Whether a code beyond ASCII is a letter, and not a sign of punctuation, an arrow or a part of a box. */
export const isForeignLetter = (code: number): boolean =>
  code > 191 && (code < 0x2000 || code > 0x2bff || code === 0x212a);

/**
 * Creates a fast test of whether the last characters of a line may have one of some words, or any letter beyond ASCII.
 *
 * @param parts three letters of each word
 */
export const mentionTest = (parts: string, max: number): ((text: string, end: number) => boolean) => {
  const isPart = new Uint8Array(32_768);
  for (const part of parts.split(' ')) isPart[tailOf(part, 2)] = 1;
  return (text, end) => {
    const floor = Math.max(0, end - max);
    let tail = 0;
    for (let index = end - 1; index >= floor; index -= 1) {
      const code = text.charCodeAt(index);
      if (code === lineFeed) return false;
      tail = ((code & 31) << 10) | (tail >> 5);
      if (isPart[tail] === 1 || isForeignLetter(code)) return true;
    }
    return false;
  };
};
