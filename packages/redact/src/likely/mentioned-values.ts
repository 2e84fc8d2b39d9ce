import { codeAt } from '../text/characters.js';
import { isAssigned, isNumbered, isWordless } from '../values/chosen-value.js';
import { passwordStems } from '../names/key-name.js';
import { mayMentionPassword } from './nearby.js';
import { isRandomMixed } from '../values/random-letters.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { hasBothCases } from './stated-values.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from '../values/value.js';
import { endOfWord, isApart, startOfWord } from '../text/whole-words.js';

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
  String.raw`(?:^|[^\p{L}\d/=.-])(?:${passwordStems})[\p{L}\p{M}]{0,5}[^\u0000-\u007f]{0,12}((?: [^\s:;.!?()"'=<>{}[\]]{1,24}){0,6}?)(?: from \S{6,64} to)?[,:]?(?: ?(?:[:=→]|[-=]>))? ?["'\u0060«„“「]?$`,
  'iu',
);
/** Matches words for what belongs to a password, or for something else. */
const other =
  /\b(?:hash|polic|length|expir|strength|files?|path|url|link|hint|manager|version|date|time|id|type|algorithm|fields?|class|function|method|commit|module|package|branch|issue|bug|ticket|in|see|via)\w{0,3}\b/i;

/** Returns the end of the words before the signs that lead to a value. */
const endOfWords = (text: string, start: number): number => {
  let end = start;
  while (end > start - maxSigns && signs.has(codeAt(text, end - 1))) end -= 1;
  return end;
};
const maxSigns = 4;
const signs: ReadonlySet<number> = new Set(Array.from(' :="\'`', (sign) => sign.charCodeAt(0)));

/** Returns quickly whether a value that is unlike a word may be in a sentence about a password. */
export const mayBeMentioned = (text: string, start: number, last: number): boolean => {
  const from = startOfWord(text, start);
  const end = endOfWord(text, from, last);
  return (
    end - from >= minValue &&
    end - from <= maxValue &&
    isApart(codeAt(text, from - 1)) &&
    hasBothCases(text, from, end) &&
    mayMentionPassword(text, endOfWords(text, from))
  );
};

/** Matches what is no password: a path, an address, the name of a file, and a name before a value. */
const unlikePassword = /[/:]|^[\w.+-]+@[\w-]+\.|\.[a-z]{2,4}$|\$\{|[(){}<>[\]|\\]/;

/**
 * Finds a value that is unlike a word in a sentence that mentions a password before, as in `Passordet er …` and
 * `Log in met gebruiker jan en wachtwoord …`. Since no word has the form of such a value, verbs are not needed.
 */
export const findMentioned = (reader: Reader, start: number, last: number): Secret | undefined => {
  if (!mayBeMentioned(reader.text, start, last)) return undefined;
  const from = startOfWord(reader.text, start);
  const end = endOfWord(reader.text, from, last);
  const next = reader.code(end);
  if (from < reader.barrier || !(Number.isNaN(next) || followers.has(next))) return undefined;
  const value = reader.text.slice(from, end);
  if (unlikePassword.test(value) || isAssigned(value)) return undefined;
  if (isPublicIdentifier(value) || isPlaceholder(value)) return undefined;
  const isUnlikeWords =
    isWordless(value) || isRandomMixed(value.replaceAll(/[=@^+]/g, '')) || looksRandom(value) || isNumbered(value);
  if (!isUnlikeWords || value.includes(reader.replacement)) return undefined;
  const found = mentioned.exec(reader.text.slice(Math.max(0, from - maxBefore), from).replace(/^[^]*\n/, ''));
  return found === null || other.test(found[1] ?? '') ? undefined : { kind: 'assignment', start: from, end };
};
