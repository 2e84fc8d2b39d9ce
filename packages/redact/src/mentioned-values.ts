import { isWordless } from './chosen-value.js';
import { passwordStems } from './key-name.js';
import { mayMentionPassword } from './nearby.js';
import { isRandomMixed } from './random-letters.js';
import type { Reader } from './reader.js';
import { hasBothCases } from './stated-values.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from './value.js';

const minValue = 8;
const maxValue = 64;
const maxBefore = 112;
/** What may be behind a value in a sentence: a space, the end of a line or of a string, or a sign. */
const followers: ReadonlySet<number> = new Set(Array.from(' \t\r\n"\'`.,;!?)»”」\\', (sign) => sign.charCodeAt(0)));

/**
 * Matches the beginning of a sentence with a word for a password, with any ending, and up to six other words or a sign
 * between it and the value.
 */
const mentioned = new RegExp(
  String.raw`(?:^|[^\p{L}\d/=.-])(?:${passwordStems})[\p{L}\p{M}]{0,5}((?: [^\s:;.!?()"'=<>{}[\]]{1,24}){0,6}?)[,:]?(?: ?(?:[:=→]|[-=]>))? ?["'\u0060«„“「]?$`,
  'iu',
);
/** Matches words for what belongs to a password, or for something else. */
const other =
  /\b(?:hash|polic|length|expir|strength|files?|path|url|link|hint|manager|version|date|time|id|type|algorithm|fields?|class|function|method|commit|module|package|branch|issue|bug|ticket|in|see|via)\w{0,3}\b/i;

/** Returns the end of the words before the signs that lead to a value. */
const endOfWords = (text: string, start: number): number => {
  let end = start;
  while (end > start - maxSigns && signs.has(text.charCodeAt(end - 1))) end -= 1;
  return end;
};
const maxSigns = 4;
const signs: ReadonlySet<number> = new Set(Array.from(' :="\'`', (sign) => sign.charCodeAt(0)));

/** Whether a value may begin behind a code: a space, a quote, or one beyond ASCII. */
const isApart = (before: number): boolean =>
  before === 32 || before === 34 || before === 39 || before === 96 || before > 127;

/** Returns quickly whether a value that is unlike a word may be in a sentence about a password. */
export const mayBeMentioned = (text: string, start: number, last: number): boolean =>
  last - start >= minValue &&
  last - start <= maxValue &&
  isApart(text.charCodeAt(start - 1)) &&
  hasBothCases(text, start, last) &&
  mayMentionPassword(text, endOfWords(text, start));

/**
 * Whether a value that is unlike a word is in a sentence that mentions a password before, as in `Passordet er …` and
 * `Log in met gebruiker jan en wachtwoord …`. Since no word has the form of such a value, verbs are not needed.
 */
export const isMentioned = (reader: Reader, start: number, end: number): boolean => {
  if (!mayBeMentioned(reader.text, start, end)) return false;
  const next = reader.code(end);
  if (!(Number.isNaN(next) || followers.has(next))) return false;
  const value = reader.text.slice(start, end);
  if (/[/:]|^[\w.-]+@|\.[a-z]{2,4}$/.test(value) || isPublicIdentifier(value) || isPlaceholder(value)) return false;
  const isUnlikeWords = isWordless(value) || isRandomMixed(value) || looksRandom(value);
  if (!isUnlikeWords || value.includes(reader.replacement)) return false;
  const floor = Math.max(reader.barrier, start - maxBefore);
  const found = mentioned.exec(reader.text.slice(floor, start).replace(/^[^]*\n/, ''));
  return found !== null && !other.test(found[1] ?? '');
};
