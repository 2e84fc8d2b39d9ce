import { codeAt } from './characters.js';

/** Maximum number of characters of a word before its first part with a digit, and behind it. */
const maxPart = 24;

/** Whether a value may begin behind a code: a space, a quote, or one beyond ASCII. */
export const isApart = (before: number): boolean =>
  before === 32 || before === 34 || before === 39 || before === 96 || before > 127;
const isWithin = (code: number): boolean => code > 32 && !isApart(code);

/** Returns the start of the word around an offset, as a value may have signs that end others: `zsq=cQGx9GYY`. */
export const startOfWord = (text: string, start: number): number => {
  let from = start;
  while (start - from < maxPart && isWithin(codeAt(text, from - 1))) from -= 1;
  return from;
};

/** Returns the end of the word around an offset without the signs that end a sentence. */
export const endOfWord = (text: string, start: number, last: number): number => {
  let end = last;
  while (end - last < maxPart && isWithin(codeAt(text, end))) end += 1;
  while (end > start && sentenceEnds.has(codeAt(text, end - 1))) end -= 1;
  return end;
};
const sentenceEnds: ReadonlySet<number> = new Set(Array.from('.,;:)', (sign) => sign.charCodeAt(0)));
