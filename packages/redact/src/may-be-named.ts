import { kindOf } from './characters.js';
import { mayBeForeign } from './foreign-names.js';
import { mayEndKey, tailOf, tailsOf } from './key-name.js';
import { mayBeManifest } from './manifests.js';
import { isOfType, maxOwner, maxType, mayEndOwner } from './name-before.js';
import { isWithinLine } from './nearby.js';

const lineFeed = 10;
const space = 32;
const doubleQuote = 34;
const singleQuote = 39;
const comma = 44;
const hyphen = 45;
const slash = 47;
const digit2 = 50;
const digit7 = 55;
const colon = 58;
const letterA = 65;
const backslash = 92;
const underscore = 95;
/** The kind of digits. */
const digit = 3;

/** Returns 1 for the last three letters of words, besides the names of secrets, whose values are read. */
const tailsOfWords = (words: string): Uint8Array => {
  const table = new Uint8Array(32_768);
  for (const tail of words.split(' ').flatMap(tailsOf)) table[tail] = 1;
  return table;
};
const beforeBoth = 'value val content default result input key pass';
const beforeEquals = tailsOfWords(`${beforeBoth} name login code auth sig signature string str`);
const beforeColon = tailsOfWords(`${beforeBoth} codes lines ed is et`);

const isQuote = (code: number): boolean => code === doubleQuote || code === singleQuote;

/** Whether the words before a colon may name a secret of an account, or its value may end the line behind them. */
const mayBeDescribed = (text: string, end: number, index: number): boolean => {
  let start = end;
  while (start > end - maxOwner && text.charCodeAt(start - 1) > space) {
    start -= 1;
    // Keys of minified JSON have no spaces between them.
    if (text.charCodeAt(start) === comma && text.charCodeAt(start + 1) === doubleQuote) return false;
  }
  if (text.charCodeAt(start - 1) !== space) return false;
  const before = text.charCodeAt(start - 2);
  return mayEndOwner(text, start) || (before > space && before !== hyphen && !isWithinLine(text, index + 1));
};

/** Whether a type between a colon and a sign may follow a name. */
const mayBeTyped = (text: string, end: number): boolean => {
  let start = end;
  while (start > end - maxType && isOfType(text.charCodeAt(start - 1))) start -= 1;
  return text.charCodeAt(text.charCodeAt(start - 1) === space ? start - 2 : start - 1) === colon;
};

/** Whether `user` begins the line or the text. */
const mayBeUser = (text: string, end: number): boolean =>
  (end === 4 || text.charCodeAt(end - 5) === lineFeed) && text.endsWith('user', end);

/**
 * Returns quickly whether the colon or the equals sign at an offset may follow the name of a secret. Most names are
 * excluded by their last letters and by what is before them.
 */
export const mayBeNamed = (text: string, index: number): boolean => {
  const isColon = text.charCodeAt(index) === colon;
  let end = index;
  while (text.charCodeAt(end - 1) === space) end -= 1;
  if (isColon && isQuote(text.charCodeAt(end - 1))) {
    end -= 1;
    while (text.charCodeAt(end - 1) === backslash) end -= 1;
    // The members of a JSON web key have names of one or two letters.
    if (isQuote(text.charCodeAt(end - 2)) || isQuote(text.charCodeAt(end - 3))) return true;
  }
  const last = text.charCodeAt(end - 1);
  if (kindOf(last) === digit) {
    // Encoded quotes end with `22` or `27`, and a number may follow a name.
    const before = text.charCodeAt(end - 2);
    if (before === space || (before === digit2 && (last === digit2 || last === digit7))) return true;
  } else if (kindOf(last) === 0 && last !== underscore) return true;
  const tails = isColon ? beforeColon : beforeEquals;
  if (tails[tailOf(text, end - 1)] === 1 || mayEndKey(text, end)) return true;
  if (!isColon) return mayBeTyped(text, end) || mayBeUser(text, end);
  if (index + 1 >= text.length || text.charCodeAt(index + 1) === lineFeed) return true;
  return mayBeForeign(text, end) || mayBeDescribed(text, end, index);
};

/** Whether a number of up to seven digits is before a colon or the end of the text. */
const isBetweenColons = (text: string, from: number): boolean => {
  let end = from;
  while (end < from + 7 && kindOf(text.charCodeAt(end)) === digit) end += 1;
  return end === text.length || text.charCodeAt(end) === colon;
};

/** Returns quickly whether a colon behind a quote may follow the name of a secret; `true` behind other characters. */
export const mayBeAtColon = (text: string, index: number): boolean => {
  const next = text.charCodeAt(index + 1);
  if (!isQuote(text.charCodeAt(index - 1)) || next === slash || next === colon || next === letterA) return true;
  if (kindOf(next) === digit && isBetweenColons(text, index + 1)) return true;
  return mayBeManifest(text, index) || mayBeNamed(text, index);
};
