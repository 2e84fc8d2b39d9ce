import { isCall, isMixed, isNumbered, isUnlikeWord, passphraseName } from './chosen-value.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { type Key } from './value-of-name.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from './value.js';

/** Maximum length of the words between a name and a value. */
const maxBetween = 64;
const maxValue = 96;
/** Matches a line with a digit, a sign that words do not have, or a long word. */
const unlikeProse = /^[^\n]*(?:[\d!@#%^&_]|[a-z]{10})/;
/** Matches words up to the last one of the line, or the first one in quotes. */
const lastWord =
  /^(?!\s*[-=|]+\s)((?:(?![-/])(?:[^\s"'`=;{}<>[\]$|\\]{1,24}|=)[ \t]{1,4}){0,8}?)(?:(["'`])([^\s"'`]{8,96})\2(?![\w=:([])|([!-~]{8,96}?)[.!]?(?=[ \t]*(?:[\r\n]|$)))/;
/**
 * Matches what is before a value: a sign behind brackets or a name of an account, the sign of a prompt, or a verb. Other
 * words make it the value of something else, as in `password policy: …`.
 */
const joint = /(?:[=…]|\):|\b(?:is|be|to|as|ist|lautet|est|es|est[aá]|jest|er|on)|(?:^|\s)(?:é|è|är|это))\s+$/i;
const minOther = 16;

/**
 * Finds the value that words separate from its name, as in `Password (as chosen): …` and `Le mot de passe est …`. It must
 * be unlike a word, and in quotes or at the end of the line.
 */
export const findNearby = (reader: Reader, { name }: Key, from: number): Secret | undefined => {
  const line = reader.slice(from, from + maxBetween + maxValue);
  const found = unlikeProse.test(line) ? lastWord.exec(line) : null;
  if (found === null) return undefined;
  const [whole, between = '', , quoted, bare] = found;
  const value = quoted ?? bare ?? '';
  if (between !== '' && !joint.test(between)) return undefined;
  if (between.length > maxBetween || value.includes(reader.replacement) || isPlaceholder(value)) return undefined;
  // A commit.
  if (/^[\da-f]{7,12}$/.test(value)) return undefined;
  if (/^[^\w!@#%&*+]|[\\${}<>|,;:()[\]]|^\w+[/:=]|&[a-z]+;|^[\w.-]+@[\w-]+\./.test(value) || isCall(value)) {
    return undefined;
  }
  const isSecret = passphraseName.test(name)
    ? isChosen(value)
    : value.length >= minOther && looksRandom(value) && !isPublicIdentifier(value);
  if (!isSecret) return undefined;
  const start = from + whole.lastIndexOf(value);
  return { kind: 'assignment', start, end: start + value.length };
};

const isChosen = (value: string): boolean =>
  looksRandom(value) || isNumbered(value) || (isUnlikeWord(value) && isMixed(value, { isQuoted: false }));
