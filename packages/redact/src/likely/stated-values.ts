import { isUnlike } from '../named/behind-signs.js';
import { codeAt, kindOf } from '../text/characters.js';
import { isWordless } from '../values/chosen-value.js';
import { foreignNames } from '../names/key-name.js';
import { userNames } from '../commands/login-pairs.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isPlaceholder } from '../values/value.js';
import { startOfWord } from '../text/whole-words.js';

/** Maximum length of the names and of the user before a value. */
const maxBefore = 80;
/** Maximum length of the words behind a value. */
const maxBehind = 48;
/** Maximum distance of the first letters of a sentence behind a value. */
const maxVerb = 8;
const minValue = 6;
const maxValue = 32;
const slash = 47;
const space = 32;
const hyphen = 45;
const equals = 61;
const below = 60;
/** The code of `←`. */
const arrow = 0x2190;
const comma = 44;
const letterA = 97;
const letterI = 105;
const letterS = 115;
const letterW = 119;
/** The code of the last sign that may be before a user or a password, which is `>`. */
const maxSign = 62;

/**
 * Matches the names of a user and a password beside each other, possibly with other names, then signs or a remark, the
 * user, and a sign: `ID/PW-joe/`, `(id & pwd): joe, `, `login password 10.0.0.1 joe `.
 */
const pair = new RegExp(
  String.raw`(?:^|[^\p{L}\d])(?:${userNames})` +
    String.raw`\)?(?: ?[/,&|:+(] ?| | and )\(?(?:p\/?w|pwd|pass(?:w(?:or)?[dt])?|kennwort|senha|clave|${foreignNames})\)?(?: ?[/,] ?\p{L}{2,8}\)?)?` +
    String.raw`(?:[ \t]*(?:\)|[:=>|(~-]|[-=]>|→|is|은|는|は|为|是)+[ \t]*|[ \t]+)\(?` +
    String.raw`(?:[\w.-]{1,24}(?::\d{2,5})?[:/ ]|for [\w.-]{1,32} )?[\w.@+-]{1,48}[ \t]?(?:\/{1,2}|[,:(|-]|[ \t])[ \t]?$`,
  'iu',
);

/** Returns the range behind the last slash before an offset, up to the next one. */
const partOf = (
  text: string,
  start: number,
  last: number,
  index: number,
): { readonly from: number; readonly end: number } => {
  let from = index;
  while (from > start && codeAt(text, from - 1) !== slash) from -= 1;
  let end = index;
  while (end < last && codeAt(text, end) !== slash) end += 1;
  return { from, end };
};

/** Whether a range has capitals and other letters. */
export const hasBothCases = (text: string, from: number, end: number): boolean => {
  let kinds = 0;
  for (let index = from; index < end && (kinds & both) !== both; index += 1) {
    kinds |= 1 << kindOf(codeAt(text, index));
  }
  return (kinds & both) === both;
};
/** The bits of lower-case letters and capitals. */
const both = 6;

/** Whether a value is unlike names in code and no placeholder. */
const isStated = (reader: Reader, value: string): boolean =>
  isUnlike(value) && !isPlaceholder(value) && !value.includes(reader.replacement);

/** Finds the password of a user whose names are before both, as in `ID/PW-joe/…`. */
const findOfPair = (reader: Reader, start: number, last: number, index: number): Secret | undefined => {
  const { text } = reader;
  const { from, end } = partOf(text, start, last, index);
  if (end - from < minValue || end - from > maxValue || !hasBothCases(text, from, end)) return undefined;
  const before = text.slice(Math.max(reader.floor(from), from - maxBefore), from);
  if (!(mayBePair.test(before) && pair.test(before)) && !ofLogin.test(before)) return undefined;
  const value = text.slice(from, end);
  return isStated(reader, value) ? { kind: 'user-password', start: from, end } : undefined;
};
/** Tests quickly for the names of a password. */
const mayBePair = /p\/?w|pass|[^\t\n\r -~]|kenn|senha|clave/i;
/** Matches a word for a login with a sign, possibly the role or the words that lead to the user, and the user. */
const ofLogin =
  /\b(?:log-?ins?|credentials?|creds)\b(?: details| info)?(?:[:=]|,(?: it'?s| they are)?)(?:\s{1,8}[A-Z][a-z]{2,15}:)?\s{0,8}[\w.@+-]{1,48} ?\/ ?$/i;

/** Matches what states that the value before is a secret. */
const statement =
  /^["'`]?(?: (?:is|was|as(?= (?:the|your|my|our) ))| {1,4}(?:<-{1,2}|←)| ={1,3} [\w.<>()[\]'" ]{1,40}\.) ?(?:[a-z]{1,12} ){0,3}(?:passw(?:or)?d|passphrase|passcode|pass|pwd?|secret|token|(?:api|access|secret|private) key)\b(?! (?:hash|id|name|length|policy|type))/i;
/** Matches the member behind an expected value. */
const compared = /^["'], ?[\w.>-]{1,32}(?:password|passwd|secret|token|api_?key)(?:\(\))?\)/i;
/** Matches the function that compares both, up to the quote of the value. */
const asserted = /\b(?:assert\w{0,16}|expect\w{0,16}|(?:\w{1,12}\.)?(?:not)?equals?)\((?:\w{1,8}, ?)?["']$/i;
const maxCall = 48;
/** Matches the sign of a remark before a value. */
const remark = /^(?:\/{2}|\/\*{1,2}|#+|--|;+|<!--|%+)(?=\w)/;

/** Finds a value that is stated to be a secret behind it, as in `… is the password`. */
const findBeforeStatement = (reader: Reader, start: number, last: number): Secret | undefined => {
  const behind = reader.slice(last, last + maxBehind);
  const isStatement =
    statement.test(behind) ||
    (compared.test(behind) && asserted.test(reader.text.slice(Math.max(reader.barrier, start - maxCall), start)));
  if (!isStatement) return undefined;
  const word = startOfWord(reader.text, start);
  const from = word + (remark.exec(reader.text.slice(word, word + 4))?.[0].length ?? 0);
  if (from < reader.barrier) return undefined;
  const value = reader.text.slice(from, last);
  return isStated(reader, value) ? { kind: 'assignment', start: from, end: last } : undefined;
};

/** Whether a letter is behind a comma, possibly after a space. Strings in data have quotes there. */
const isBeforeMember = (text: string, from: number): boolean =>
  kindOf(codeAt(text, codeAt(text, from) === space ? from + 1 : from)) !== 0;

const isBeforeVerb = (text: string, last: number): boolean => {
  const isQuoted = isQuote(codeAt(text, last));
  let end = isQuoted ? last + 1 : last;
  if (isQuoted && codeAt(text, end) === comma) return isBeforeMember(text, end + 1);
  if (codeAt(text, end) !== space) return false;
  while (end < last + 4 && codeAt(text, end + 1) === space) end += 1;
  const first = codeAt(text, end + 1);
  if (first === below) return codeAt(text, end + 2) === hyphen;
  return first === letterI || first === letterA
    ? codeAt(text, end + 2) === letterS
    : first === letterW || first === arrow || first === equals;
};
const isQuote = (code: number): boolean => code === 34 || code === 39 || code === 96;

/** Returns quickly whether a sentence may follow a value, or a user may be before it in the same word. */
export const mayBeStated = (text: string, start: number, last: number, index: number): boolean => {
  if (isBeforeVerb(text, last) || last + maxVerb > text.length) return true;
  if (last - start > maxValue || codeAt(text, start - 1) > maxSign) return false;
  const { from, end } = partOf(text, start, last, index);
  return from > start && end - from >= minValue && isWordless(text.slice(from, end));
};

/**
 * Finds a value that other words state to be a secret: the names of a login before it, or a sentence behind it.
 *
 * @param index the offset of the first letter or digit beside one of the other kind
 */
export const findStatedValue = (reader: Reader, start: number, last: number, index: number): Secret | undefined => {
  reader.slice(last, last + maxVerb);
  const found = isBeforeVerb(reader.text, last) ? findBeforeStatement(reader, start, last) : undefined;
  if (found !== undefined || reader.starved) return found;
  return codeAt(reader.text, start - 1) > maxSign ? undefined : findOfPair(reader, start, last, index);
};
