import { codeAt, is, kindOf, word } from '../text/characters.js';
import { mayBeForeign } from './foreign-names.js';
import { isGap } from './key.js';
import { keyTails, mayEndKey, tailOf, tailsOf } from './key-name.js';
import { endsWithVerb, isOfType, maxOwner, maxType, mayEndOwner } from './name-before.js';
import { isWithinLine, mayMentionSecret } from '../likely/nearby.js';
import { isAccountKey, isKeyMember, isShareName } from '../named/object-members.js';
import { mayAnnounce } from '../named/values-below.js';

const lineFeed = 10;
const space = 32;
const doubleQuote = 34;
const singleQuote = 39;
const opening = 40;
const closing = 41;
const plus = 43;
const comma = 44;
const hyphen = 45;
const digit2 = 50;
const digit7 = 55;
const colon = 58;
const semicolon = 59;
const equals = 61;
const above = 62;
const question = 63;
const openingBracket = 91;
const backslash = 92;
const closingBracket = 93;
const underscore = 95;
const backtick = 96;
const closingBrace = 125;
/** The kinds of capitals and of digits. */
const capital = 2;
const digit = 3;
/** Maximum length of what a prompt shows in brackets, and of a remark in brackets. */
const maxShown = 42;

/** Returns a table with 1 for the last three letters of words that are no names of secrets but have values that are read. */
const tailsOfWords = (words: string): Uint8Array => {
  const table = new Uint8Array(32_768);
  for (const tail of words.split(' ').flatMap(tailsOf)) table[tail] = 1;
  return table;
};
const beforeBoth = 'value val content default result input key pass encrypt seed';
const beforeEquals = tailsOfWords(
  `${beforeBoth} name login appid code auth sig magic ticket invite signature string str`,
);
const beforeColon = tailsOfWords(`${beforeBoth} codes lines`);
const verbEnds = tailsOfWords('ed is et');

const isQuote = (code: number): boolean => code === doubleQuote || code === singleQuote || code === backtick;

/** Returns the offset before a space and a bracket that opens shortly before one that closes; the same offset without one. */
const beforeBrackets = (text: string, end: number, open: number): number => {
  let start = end - 1;
  while (start > end - maxShown && codeAt(text, start) !== open) start -= 1;
  return codeAt(text, start) === open && codeAt(text, start - 1) === space ? start - 1 : end;
};

/** Returns the end of the name before a sign, without spaces, emphasis and a quote. */
const endOfName = (text: string, index: number): number => {
  let end = index;
  const before = codeAt(text, end - 1);
  if (codeAt(text, index) === equals && (before === colon || before === question || before === plus)) end -= 1;
  while (isGap(codeAt(text, end - 1))) end -= 1;
  if (codeAt(text, end - 1) === openingBracket && codeAt(text, end) === closingBracket) end -= 1;
  if (codeAt(text, end - 1) === closing) {
    // PostgreSQL prints `(name)=(value)`, and a remark in brackets may be behind a name.
    if (codeAt(text, index + 1) === opening) end -= 1;
    else if (codeAt(text, index) === colon) end = beforeBrackets(text, end, opening);
  }
  const last = codeAt(text, end - 1);
  if (!isQuote(last)) return end;
  end -= codeAt(text, end - 2) === last ? 2 : 1;
  while (codeAt(text, end - 1) === backslash) end -= 1;
  return end;
};

/** Whether a sign or a digit at the end of a name may be skipped before the name of a secret. */
const maySkip = (text: string, end: number, isColon: boolean): boolean => {
  const last = codeAt(text, end - 1);
  const before = codeAt(text, end - 2);
  switch (last) {
    case semicolon:
      // An encoded quote.
      return true;
    case above:
      // The end of an element.
      return isColon && is(before, word);
    case closing:
      // The length of a type.
      return !isColon && kindOf(before) === digit;
    case closingBrace:
      // Accessors of a property.
      return !isColon && before === space && codeAt(text, end - 3) === semicolon;
    default:
      break;
  }
  // Encoded quotes end with `22` or `27`, and a number may follow a name.
  if (kindOf(last) === digit) return before === space || (before === digit2 && (last === digit2 || last === digit7));
  return isColon && codeAt(text, end) === closingBracket && beforeBrackets(text, end, openingBracket) < end;
};

/** Whether the words before a colon may name a secret of an account, or its value may end the line behind them. */
const mayBeDescribed = (text: string, end: number, index: number): boolean => {
  const floor = end - maxOwner;
  let start = end;
  for (let next = 0; start > floor; start -= 1) {
    const code = codeAt(text, start - 1);
    if (!(code > space)) break;
    // Keys of minified JSON have no spaces between them.
    if (code === comma && (next === doubleQuote || next === backslash)) return false;
    next = code;
  }
  if (codeAt(text, start - 1) !== space) return false;
  const before = codeAt(text, start - 2);
  if (mayEndOwner(text, start)) return true;
  const isWord = before > space && before !== hyphen && kindOf(codeAt(text, index + 1)) === 0;
  return isWord && !isWithinLine(text, index + 1) && mayMentionSecret(text, end);
};

/** Whether a type between a colon and a sign may follow a name. */
const mayBeTyped = (text: string, end: number): boolean => {
  let start = end;
  while (start > end - maxType && isOfType(codeAt(text, start - 1))) start -= 1;
  return codeAt(text, codeAt(text, start - 1) === space ? start - 2 : start - 1) === colon;
};

/** Whether the code may end a name behind its last letter. */
const isNumber = (code: number): boolean => kindOf(code) === digit || code === underscore;

/** Whether `user` begins the line or the text. */
const mayBeUser = (text: string, end: number): boolean =>
  (end === 4 || codeAt(text, end - 5) === lineFeed) && text.endsWith('user', end);

/** Ends of names of environment variables for a user or a host, whose value may have a password. */
const pairNames = ['_USER', '_USERS', '_LOGIN', '__COM', '__NET', '__ORG', '__IO', '__DEV'];

/** Whether the value of a name may be a user and a password. */
export const mayNamePair = (text: string, end: number): boolean =>
  kindOf(codeAt(text, end - 1)) === capital && pairNames.some((name) => text.endsWith(name, end));

/**
 * Returns quickly whether the colon or the equals sign at an offset may follow the name of a secret. Most names are
 * excluded by their last letters and by what is before them.
 */
export const mayBeNamed = (text: string, index: number): boolean => {
  if (index + 1 >= text.length) return true;
  const isColon = codeAt(text, index) === colon;
  const end = endOfName(text, index);
  const tails = isColon ? beforeColon : beforeEquals;
  const tail = tailOf(text, end - 1);
  if (tails[tail] === 1 || maySkip(text, end, isColon)) return true;
  if ((keyTails[tail] === 1 || isNumber(codeAt(text, end - 1))) && mayEndKey(text, end)) return true;
  if (mayNamePair(text, end)) return true;
  if (isColon && verbEnds[tail] === 1 && endsWithVerb(text, end)) return true;
  if (!isColon) return isQuote(codeAt(text, end)) || mayBeTyped(text, end) || mayBeUser(text, end);
  if (codeAt(text, index + 1) === lineFeed && mayAnnounce(text, end)) return true;
  return (
    isKeyMember(text, end) ||
    isAccountKey(text, end) ||
    isShareName(text, end) ||
    mayBeForeign(text, end) ||
    mayBeDescribed(text, end, index)
  );
};
