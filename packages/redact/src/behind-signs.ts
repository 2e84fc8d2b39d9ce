import { is, likelyStop, word } from './characters.js';
import { isNoisy, isUnlikeWord, path, snakeName } from './chosen-value.js';
import { mayEndKey } from './key-name.js';
import { isRandomLetters, isRandomMixed } from './random-letters.js';
import type { Reader } from './reader.js';
import { isReference, readKey, type Key } from './value-of-name.js';
import { isPublicIdentifier, looksRandom } from './value.js';

/** Maximum number of signs and spaces between a name and a value. */
const maxSigns = 48;
const maxValue = 512;
const minWeak = 16;
const colon = 58;
const equals = 61;
const backslash = 92;
const letterS = 115;

const isQuote = (code: number): boolean => code === 34 || code === 39 || code === 96;

/** Returns the end of the name before the signs that lead to a value; 0 if other characters are between them. */
const endOfName = (text: string, start: number): number => {
  let end = start;
  // The letter of `f"…"`.
  if (isQuote(text.charCodeAt(end - 1)) && /[^\w][bfrnul]$/i.test(text.slice(end - 3, end - 1))) end -= 2;
  const floor = Math.max(0, end - maxSigns);
  while (end > floor && text.charCodeAt(end - 1) < 128 && !is(text.charCodeAt(end - 1), word)) end -= 1;
  return end === floor || end === start ? 0 : end;
};

/** Returns quickly whether a value may be behind the name of a secret with only signs between them. */
export const mayBeBehindSigns = (text: string, start: number): boolean => {
  const end = endOfName(text, start);
  return end > 0 && (mayEndKey(text, end) || (text.charCodeAt(end - 1) | 32) === letterS);
};

/** Matches `backend_pass` and `rootPass`. */
const passName = /(?:[a-z\d][_-]pass|[A-Z\d][_-]PASS|[a-z\d]Pass)$/;

const keyBefore = (reader: Reader, end: number): Key | undefined => {
  const key = mayEndKey(reader.text, end) ? readKey(reader, end, end) : undefined;
  if (key !== undefined) return key;
  return passName.test(reader.text.slice(Math.max(reader.barrier, end - 8), end))
    ? { name: 'pass', strength: 'strong', start: end - 4, isQuoted: true, isTight: false }
    : undefined;
};

/** Matches signs that lead to a value in quotes: at most one line feed, and behind it or a call an operator. */
const beforeQuoted = /^(?=[^\n]*\n?[^\n]*$)(?![^]*[)}]\s*["'`\\]+$)[\s"'`\\=!:,(){}[\]|<>?+@-]{1,48}$/;
/** Matches signs that lead to a value without quotes: a colon, an arrow or a line of hyphens. */
const beforePlain = /^(?=[^]*(?:[:>]|-{3}))(?=[^]*\s)[ \t"'`*)\]:=>-]{1,48}(?<![-"'`])$/;

/** Matches signs between the items of a list, of which the one before a value may be no name. */
const ofList = /^["'`\\]+,\s*["'`\\]+$/;

/** Whether a value is neither a name nor a path of names in code. */
const isUnlikeName = (value: string): boolean =>
  (looksRandom(value) && !path.test(value) && !snakeName.test(value)) ||
  isRandomMixed(value) ||
  isRandomLetters(value) ||
  isNoisy(value) ||
  (isUnlikeWord(value) && !/^[\w$.]+$/.test(value));

/**
 * Returns the end of a value that is unlike a word, if it is behind the name of a secret and only signs are between them:
 * brackets, operators, quotes and a line feed, as in `Key{\n "…"`, `['password'], "…"` and `password  ----  …`.
 */
export const endBehindSigns = (reader: Reader, start: number, last: number): number | undefined => {
  const { text } = reader;
  const nameEnd = endOfName(text, start);
  if (nameEnd <= reader.floor(start)) return undefined;
  const key = keyBefore(reader, nameEnd);
  // A part of a longer name, as the type of a resource.
  if (key === undefined || reader.before(key.start) === colon) return undefined;
  const signs = text.slice(nameEnd, start);
  const quote = text.charCodeAt(start - 1);
  let end = reader.endOfRun(last, likelyStop, maxValue, false);
  if (end === last + maxValue) return undefined;
  while (end < last + maxValue && reader.code(end) === equals) end += 1;
  const value = text.slice(start, end);
  if (isReference(value, key.name, { isLiteral: false })) return undefined;
  if (key.strength !== 'strong') {
    if (value.length < minWeak || !looksRandom(value) || isPublicIdentifier(value)) return undefined;
  }
  if (!isQuote(quote)) return beforePlain.test(signs) && isUnlikeName(value) ? end : undefined;
  const close = reader.code(end) === backslash ? end + 1 : end;
  if (reader.code(close) !== quote || !beforeQuoted.test(signs.replace(/[bfrnul](?=["'`]$)/i, ''))) return undefined;
  // The name of a member has a colon behind it.
  if (reader.code(close + 1) === colon && /[{,]\s*["'`\\]+$/.test(signs)) return undefined;
  if (isPublicIdentifier(value) && !/[=:]/.test(signs)) return undefined;
  const isSecret = ofList.test(signs) ? isUnlikeName(value) : looksRandom(value) || isUnlikeWord(value);
  return isSecret ? end : undefined;
};
