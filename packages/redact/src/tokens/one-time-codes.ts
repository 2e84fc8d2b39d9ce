import { codeAt, is, kindOf, word } from '../text/characters.js';
import { mentionTest } from '../names/mentions.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';

const minCode = 4;
const maxCode = 8;
const maxGroups = 15;
/** Maximum length of the words before a code. */
const maxBefore = 96;
const hyphen = 45;
const capitalG = 71;
const space = 32;
const doubleQuote = 34;
const colon = 58;
const equals = 61;
const letterA = 97;
/** The kind of digits. */
const digit = 3;

/** Matches words for a code that is valid once, and what leads to it. */
const announced =
  /\b(?:otp|one[- ]?time (?:code|pass(?:word|code)|pin)|(?:verification|security|log-?in|sign-?in|pairing|access|confirmation|authentication|2fa|mfa|device|unlock) (?:code|pin)|(?:your|pairing|sim|card|new) pin(?: code)?|PIN(?=:| is)|passcode(?=:| is)|passw(?:or)?d(?= is \d*$| is:))(?: for [\w.@+-]{1,48})?(?: is| was)?\s?[:=]?\s{0,6}(?:G-)?$/i;
/** Matches a name of a code in data or an address. A PIN is in quotes. */
const named =
  /(?:^|[^a-z])(?:(?:t?otp|[m2]fa|sms|verification)(?:[_-]?(?:code|token|pin))?["'\\]{0,4}\s?[:=]\s?["'\\]{0,4}|(?:pin|passcode)["'\\]{1,4}\s?:\s?["'\\]{1,4})$/i;
const maxNamed = 40;
/** Matches what is behind a code. */
const stated = /^ (?:is|as|to) (?:your|the) (?:[\w-]{1,16} ){0,3}(?:code|otp|pin|passcode|password)\b/i;

/** Matches the word before a code that a sentence asks to use, and what is behind it. */
const codeWord = /\bcode:? $/i;
const use = /^ to (?:sign|log) ?in\b|^ to (?:verify|confirm|authenticate|complete|finish)\b/i;

/** The first letters of what is behind a code. */
const firstStated: ReadonlySet<number> = new Set(Array.from('iatIAT', (letter) => letter.charCodeAt(0)));

/** Matches what is behind a part of a date, an address, a number or an amount. */
const notCode = /^(?:[-/:%]|[.,]\d)/;

const mayAnnounce = mentionTest('ode otp pin ass', maxBefore);

/** Returns the end of the blanks that end at an offset, from the back. */
const beforeBlanks = (text: string, end: number): number => {
  let at = end;
  while (at > end - maxCode && codeAt(text, at - 1) <= space) at -= 1;
  return at;
};

/** Returns the end of the digits at an offset, or of groups of three or four digits with hyphens between them. */
const endOfDigits = (text: string, start: number): number => {
  let end = start;
  let group = 0;
  for (; end - start <= maxGroups; end += 1) {
    if (kindOf(codeAt(text, end)) === digit) group += 1;
    else if (codeAt(text, end) === hyphen && (group === 3 || group === 4) && isDigit(text, end + 1)) group = 0;
    else break;
  }
  return end;
};

const isDigit = (text: string, index: number): boolean => kindOf(codeAt(text, index)) === digit;

/** Whether a number has as many digits as a code: up to eight, or up to three groups. */
const isCode = (text: string, start: number, end: number): boolean =>
  end - start >= minCode &&
  (end - start <= maxCode || (end - start < maxGroups && groups.test(text.slice(start, end))));
const groups = /^(?:\d{3}(?:-\d{3}){1,2}|\d{4}(?:-\d{4}){1,2})$/;

/** Whether a sign leads to a code: that of a word before it, a colon or an equals sign. */
const isLead = (code: number): boolean =>
  code === hyphen || code === colon || code === equals || (code | space) >= letterA;

/** Whether the code is a quote or an equals sign. */
const isOfName = (code: number): boolean => code === doubleQuote || code === equals;

/** Returns quickly whether a number may be a code that is valid once. */
export const mayBeOneTimeCode = (text: string, index: number): boolean => {
  if (codeAt(text, index - 1) === hyphen && codeAt(text, index - 2) !== capitalG) return false;
  const end = endOfDigits(text, index);
  if (end + 1 >= text.length) return true;
  if (!isCode(text, index, end) || is(codeAt(text, end), word)) return false;
  if (end + 72 > text.length) return true;
  if (isOfName(codeAt(text, index - 1))) return named.test(text.slice(Math.max(0, index - maxNamed), index));
  const before = beforeBlanks(text, index);
  if (isLead(codeAt(text, before - 1)) && mayAnnounce(text, before)) return true;
  return (
    codeAt(text, end) === space && firstStated.has(codeAt(text, end + 1)) && stated.test(text.slice(end, end + 72))
  );
};

/** Finds the number in `Your verification code is …` and `… is your login code`. Called for its first digit. */
export const findOneTimeCode = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const end = endOfDigits(text, index);
  const next = reader.code(end);
  if (!isCode(text, index, end) || is(next, word)) return undefined;
  if (notCode.test(reader.slice(end, end + 2))) return undefined;
  const before = text.slice(reader.floor(index), index);
  if (isOfName(codeAt(text, index - 1))) {
    return named.test(before.slice(-maxNamed)) ? { kind: 'one-time-code', start: index, end } : undefined;
  }
  const isStated = next === space && stated.test(reader.slice(end, end + 72));
  const isUsed = next === space && codeWord.test(before) && use.test(reader.slice(end, end + 24));
  return isStated || isUsed || announced.test(before) ? { kind: 'one-time-code', start: index, end } : undefined;
};
