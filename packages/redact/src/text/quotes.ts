import { codeAt, is, word } from './characters.js';
import type { Reader } from './reader.js';

/** A quote: plain, escaped any number of times, or encoded for URLs or HTML. */
export interface Quote {
  /** Index of the first character after the quote. */
  readonly end: number;
  /** The closing quote: the same character in the same encoding. */
  readonly literal: string;
}

const backslash = 92;
const maxEscapes = 15;
const encoded: readonly string[] = [
  '%22',
  '%27',
  '&quot;',
  '&apos;',
  '&#34;',
  '&#39;',
  '&#x22;',
  '&#x27;',
  'u0022',
  'u0027',
];

const isQuoteCode = (code: number): boolean => code === 34 || code === 39 || code === 96;

/** Whether a quote is doubled, as within a value of CSV or SQL, and opens a text. */
const isDoubled = (reader: Reader, index: number, code: number): boolean =>
  reader.code(index + 1) === code && is(reader.code(index + 2), word);

/** Reads the quote that opens at an index. */
export const quoteAt = (reader: Reader, index: number): Quote | undefined => {
  let at = index;
  while (at < index + maxEscapes && reader.code(at) === backslash) at += 1;
  const code = reader.code(at);
  if (isQuoteCode(code)) {
    const end = at === index && isDoubled(reader, index, code) ? at + 2 : at + 1;
    return { end, literal: reader.text.slice(index, end) };
  }
  if (code !== 37 && code !== 38 && (code !== 117 || at === index)) return undefined;
  const found = encoded.find((form) => reader.matches(form, at) && (form.startsWith('u') ? at > index : at === index));
  return found === undefined
    ? undefined
    : { end: at + found.length, literal: reader.text.slice(index, at + found.length) };
};

/** Returns the start of a quote that ends before `end`; `end` without a quote. */
export const quoteBefore = (reader: Reader, end: number): number => {
  const { text } = reader;
  let start = end;
  const last = codeAt(text, end - 1);
  if (isQuoteCode(last)) start = codeAt(text, end - 2) === last && end - 2 > reader.barrier ? end - 2 : end - 1;
  else {
    // All encoded quotes end with `2`, `7` or `;`.
    if (last !== 50 && last !== 55 && last !== 59) return end;
    const near = text.slice(Math.max(reader.barrier, end - 6), end);
    const found = encoded.find((form) => near.endsWith(form));
    if (found === undefined) return end;
    start = end - found.length;
    if (found.startsWith('u') && codeAt(text, start - 1) !== backslash) return end;
  }
  const floor = Math.max(reader.barrier, start - maxEscapes);
  while (start > floor && codeAt(text, start - 1) === backslash) start -= 1;
  return Math.max(start, reader.barrier);
};

/** Returns the end of the quoted text; `undefined` if the line or the limit ends first. */
export const endOfQuoted = (reader: Reader, start: number, literal: string, max: number): number | undefined => {
  const last = literal.charCodeAt(literal.length - 1);
  const isOne = literal.length === 1 || literal.charCodeAt(literal.length - 2) === backslash;
  const isPlain = isQuoteCode(last) && isOne;
  const escapes = isPlain ? literal.length - 1 : 0;
  let run = 0;
  for (let index = start; index < start + max; index += 1) {
    const code = reader.code(index);
    if (Number.isNaN(code)) return index;
    if (code === 10 || code === 13) return undefined;
    if (code === backslash) {
      if (!isPlain && reader.matches(literal, index)) return index;
      run += 1;
      continue;
    }
    if (isPlain && code === last && run <= escapes) return Math.max(start, index - run);
    if (!isPlain && reader.matches(literal, index)) return index;
    // Two backslashes are an escaped backslash.
    run = 0;
  }
  return undefined;
};
