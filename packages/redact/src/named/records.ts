import { codeAt, is, lineBreak, word } from '../text/characters.js';
import { isMixed, isNumbered, isUnlikeWord } from '../values/chosen-value.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { endsLine } from '../text/gaps.js';
import { isPlaceholder, looksRandom } from '../values/value.js';

const maxValue = 512;
/** What the parameter store of AWS calls an encrypted value. */
const secure = '\tSecureString';

/** Finds the value of an encrypted parameter in the next column. Called for the tab before it. */
export const findEncrypted = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (codeAt(text, index - 1) !== 103 || !text.endsWith(secure, index)) return undefined;
  const start = index + 1;
  let end = start;
  while (end < start + maxValue && reader.code(end) > 32) end += 1;
  const value = text.slice(start, end);
  if (value.includes(reader.replacement) || isPlaceholder(value)) return undefined;
  return { kind: 'column', start, end };
};

const isHex = (code: number): boolean => (code >= 48 && code <= 57) || ((code | 32) >= 97 && (code | 32) <= 102);

/** Lengths of hashes in hexadecimal digits: of MD5 and NTLM, SHA-1 and SHA-256. */
const hashLengths = [32, 40, 64];
const minHash = 32;
const hash = /^[\da-f]+$/i;
const maxPassword = 64;
/** Matches a password of a word, a sign and a number. */
const wordAndNumber = /^[A-Z][a-z]{2,}[-_.]\d{3,}$/;

/** Returns the length of the hash that begins a line and ends here; 0 without one. */
const lengthBefore = (text: string, index: number): number => {
  for (const length of hashLengths) {
    if (index === length || codeAt(text, index - length - 1) === 10) return length;
  }
  return 0;
};

/** Returns quickly whether a line may begin with a hash before a colon. */
export const mayBeGuessed = (text: string, index: number): boolean =>
  isHex(codeAt(text, index - 1)) && isHex(codeAt(text, index - minHash)) && lengthBefore(text, index) > 0;

/** Finds the hash and the password in a line `hash:password` of tools that guess passwords. Called for the colon. */
export const findGuessed = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const length = lengthBefore(text, index);
  if (length === 0 || index - length < reader.barrier) return undefined;
  if (!is(reader.code(index + 1), word) || !hash.test(text.slice(index - length, index))) return undefined;
  const start = index + 1;
  const end = reader.endOfRun(start, lineBreak, maxPassword, false);
  const value = text.slice(start, end);
  const isChosen =
    isNumbered(value) ||
    looksRandom(value) ||
    wordAndNumber.test(value) ||
    (isUnlikeWord(value) && isMixed(value, { isQuoted: false }));
  // The name of a file may follow a hash, too.
  if (!isChosen || /\s|\/|\.[a-z]\w{0,4}$/.test(value) || isPlaceholder(value) || !endsLine(reader, end)) {
    return undefined;
  }
  const found: Secret = { kind: 'password-hash', start: index - length, end: index };
  return { ...found, more: [found, { kind: 'user-password', start, end }] };
};
