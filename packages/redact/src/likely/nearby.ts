import {
  isAssigned,
  isCall,
  isMixed,
  isNoisy,
  isNumbered,
  isPassphrase,
  isUnlikeWord,
  passphraseName,
} from '../values/chosen-value.js';
import { codeAt, is, pairStop, valueStop, word } from '../text/characters.js';
import { isReference } from '../values/judged-value.js';
import { foreignNames, keyStrength } from '../names/key-name.js';
import { isForeignLetter, sentenceTest } from '../names/mentions.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { afterElements, endsLine } from '../text/gaps.js';
import type { Key } from '../names/key.js';
import { isHash, isPlaceholder, isPublicIdentifier, looksRandom } from '../values/value.js';

/** Maximum length of the words between a name and a value. */
const maxBetween = 64;
const maxValue = 96;
const minAfterWords = 6;
const dot = 46;
const space = 32;
const hyphen = 45;
const maxWordBefore = 40;
const above = 62;
/** Matches a line with a digit, a sign that words do not have, or a long word. */
const unlikeProse = /^[^\n]*(?:[\d!@#%^&_]|[a-z]{10})/;
/** Matches words up to the first one in quotes or with a digit, or the last one of the line. */
const lastWord =
  /^(?!\s*[-=|]+\s)((?:(?![-/])(?:[^\s"'`=;{}<>[\]$|\\]{1,24}|=|"[\w.@-]{1,32}"(?= "))[ \t]{1,4}){0,8}?)(?:(["'`])([^\s"'`]{8,96})\2(?![\w=:([])|((?=\S*\d)[!-~]{8,96}?)[.!,]?(?=[ \t])|([!-~]{8,96}?)[.!]?(?=[ \t]*(?:[\r\n]|$)|"[,}\]]))/;
/**
 * Matches what is before a value: a sign behind brackets or a name of an account, the sign of a prompt, or a verb. Other
 * words make it the value of something else, as in `password policy: …`.
 */
const joint =
  /(?:[=…→⇒]|[-=]>|\):|\b(?:is|be|to|as|ist|lautet|auf|est|en|es|est[aá]|jest|er|on|je|to|naar)|(?:^|\s)(?:é|è|är|это|на))\s+$/i;
/** Matches what is before a value in quotes in notations of data: a dot, an address, the word `value` or another argument. */
const dataJoint = /(?:^|\s)(?:\.|0x[\da-f]{1,16}|value|"[\w.@-]{1,32}")\s+$/i;
const minOther = 16;

/**
 * Finds the value that words separate from its name, as in `Password (as chosen): …` and `Le mot de passe est …`. It must
 * be unlike a word, and in quotes or at the end of the line.
 */
export const findNearby = (reader: Reader, { name }: Key, from: number): Secret | undefined => {
  const line = reader.slice(from, from + maxBetween + maxValue);
  const found = unlikeProse.test(line) ? lastWord.exec(line) : null;
  if (found === null) return undefined;
  const [whole, between = '', , quoted, inner, last] = found;
  const value = quoted ?? inner ?? last ?? '';
  const isJoined = between === '' || joint.test(between) || (quoted !== undefined && dataJoint.test(between));
  if (!isJoined) return undefined;
  if (isReference(value, name, { isLiteral: false })) return undefined;
  if (between.length > maxBetween || value.includes(reader.replacement) || isPlaceholder(value)) return undefined;
  // Emphasis in Markdown that ends behind a word.
  if (/^[A-Za-z]+\*\*/.test(value) || isAssigned(value)) return undefined;
  // A commit, or the id of a key of OpenPGP.
  if (/^(?:[\da-f]{7,12}|[\dA-F]{16}|[\dA-F]{40})$/.test(value)) return undefined;
  if (/^[^\w!@#%&*+]|[\\{}<>|,;:()[\]]|\$[A-Za-z]|^\w+[/:].|&[a-z]+;|^[\w.-]+@[\w-]+\./.test(value) || isCall(value)) {
    return undefined;
  }
  const isSecret = passphraseName.test(name)
    ? isChosen(value)
    : value.length >= minOther && looksRandom(value) && !isPublicIdentifier(value);
  if (!isSecret) return undefined;
  const start = from + whole.lastIndexOf(value);
  return { kind: 'assignment', start, end: start + value.length };
};

/** Maximum length of the words before a colon that may name a value. */
const maxWordsBefore = 112;
/**
 * Matches a word for a password, and a verb or a preposition with other words between it and a colon, except for words
 * for what belongs to a password.
 */
const namedBefore = new RegExp(
  String.raw`(?:passw(?:or)?[dt]|passphrase|passcode|kennwort|wachtwoord|senha|contrasena|mot de passe|parola|heslo|passord|adgangskode|salasana|${foreignNames})\p{L}*` +
    String.raw`(?: is| was| has been| will be)? (?:for|of|on|to|in|at|as|is|was|be|you|used|assigned|provided|generated|created|changed|reset|set|below|'[\w.@ -]{1,32}'|f[uü]r|von|vom|der|des|zum|lautet|ist|pour|de|du|d'\S+|est|para|del?|da|do|per|di|della|voor|van|till?|för|dla|для|от|до|на|к|з|es|é|è|är|er|jest|je|это)` +
    String.raw`(?: [^\s:;,!?]{1,32}){0,6}$`,
  'iu',
);
/** Matches a word for a key or a token, and what it is for. */
const keyBefore =
  /\b(?:(?:api|access|secret|license|private|encryption|admin|master|recovery) key|token|secret)s?(?: (?:for|of|is|was|has been|to|as)(?: [^\s:;,!?]{1,32}){0,6})$/i;
const minKey = 20;
/** Matches a message that a key was stored in a `.netrc` file. */
const storedBefore = /\bkey\b[^\n]{0,64}\bnetrc(?: file)?$/i;
/** Matches a name in quotes or brackets whose value follows. */
const quotedName = /["'`[]([\w.-]{3,64})["'`\]][^\n]{0,90}\bvalue\b[^\n:]{0,24}$/;
const isQuotedName = (near: string): boolean => keyStrength(quotedName.exec(near)?.[1] ?? '') !== undefined;
const property =
  /(?:hash|polic|length|expir|strength|file|path|url|link|hint|manager|version|date|time|count|id|name|type|algorithm|size|age|field)\w{0,4}$/i;

/** Matches a word for a password in a language whose adjectives are behind the noun, and one or two of them. */
const qualifiedBefore = new RegExp(
  String.raw`(?:^|[\s>*•-])(?:senha|contrase(?:n|ñ)a|clave|mot de passe|parola|password(?= \p{L}+(?:nea|ria)$)|palavra-passe)(?: \p{L}{4,20}){1,2}$`,
  'iu',
);

/** Three letters of each word, of which the first one of `pw` is a space. */
const passwordParts = '`pw ssw ssp ssc sso sse nnw htw nha ras lav rol slo dga asa eor ozi';
const sentence = { max: maxWordsBefore, maxWords: 10 };
/** Returns quickly whether the words on the line before an offset may name a password. */
export const mayMentionPassword = sentenceTest(passwordParts, sentence);
/** Like {@link mayMentionPassword}, also for a key or a token. */
export const mayMentionSecret = sentenceTest(`${passwordParts} oke ecr key`, sentence);

/**
 * Finds the value that ends the line behind a colon, if words before it name a password, as in `The password for this
 * session: …`. It must be unlike a word.
 *
 * @param end the end of the words
 */
export const findAfterWords = (reader: Reader, end: number, from: number): Secret | undefined => {
  if (isWithinLine(reader.text, from) || !isBehindWord(reader, end)) return undefined;
  const gap = afterElements(reader, reader.skipSpaces(from, 4));
  const isInElement = codeAt(reader.text, gap - 1) === above;
  const quote = quoteAt(reader, gap);
  const start = quote?.end ?? gap;
  if (start === from) return undefined;
  const run = reader.endOfRun(start, isInElement ? pairStop : valueStop, maxValue, false);
  if (run - start < minAfterWords || run - start === maxValue) return undefined;
  const isLast = quote === undefined ? isInElement || endsLine(reader, run) : reader.matches(quote.literal, run);
  if (!isLast) return undefined;
  const last = quote === undefined && codeAt(reader.text, run - 1) === dot ? run - 1 : run;
  const near = reader.text.slice(Math.max(reader.barrier, end - maxWordsBefore), end).replace(/^[^]*\n/, '');
  const value = reader.text.slice(start, last);
  const isStored = storedBefore.test(near) && (isHash(value) || looksRandom(value));
  if (isStored) return { kind: 'assignment', start, end: last };
  const isKey = value.length >= minKey && looksRandom(value) && (keyBefore.test(near) || isQuotedName(near));
  if (!(isKey || namedBefore.test(near) || qualifiedBefore.test(near)) || property.test(near)) return undefined;
  if (!isChosen(value) || isPlaceholder(value) || isPublicIdentifier(value) || value.includes(reader.replacement)) {
    return undefined;
  }
  if (/^\w+[:=]|[\\{}()<>]|^[\w.-]+@[\w-]+\.|^\w+-\d+$/.test(value)) return undefined;
  return { kind: 'assignment', start, end: last };
};

/** Whether a word is behind a colon and a space with another word after it, so that it does not end the line. */
export const isWithinLine = (text: string, from: number): boolean => {
  if (codeAt(text, from) !== space || !is(codeAt(text, from + 1), word)) return false;
  let end = from + 2;
  while (end < text.length && !is(codeAt(text, end), valueStop)) end += 1;
  return codeAt(text, end) === space && codeAt(text, end + 1) > space;
};

/** Whether another word is before the one that ends here. */
const isBehindWord = ({ text, barrier }: Reader, end: number): boolean => {
  const floor = Math.max(barrier, end - maxWordBefore);
  let start = end;
  while (start > floor && codeAt(text, start - 1) > space) start -= 1;
  const before = codeAt(text, start - 2);
  return start < end && start - 1 > floor && codeAt(text, start - 1) === space && before > space && before !== hyphen;
};

/** Matches a word for a password with letters beyond ASCII, and a particle or a sign behind it. */
const foreignBefore = new RegExp(
  String.raw`(?:${foreignNames})\p{L}{0,3} ?(?:は|が|为|為|是|는|은|가|이)?[ :：([{<=→>|/)-]{0,6}["'` +
    '`' +
    String.raw`「『]?$`,
  'iu',
);
/** Matches a word for a token or a key in a language with letters beyond ASCII, before a sign. */
const foreignKeyBefore =
  /(?:토큰|시크릿|키|トークン|キー|鍵|令牌|密钥|密鑰|токен|секрет|ключ)\p{L}{0,3}[^\p{L}\d]{1,6}$/iu;
const maxForeign = 32;

/** Maximum distance of a letter of the name from the value: three letters and five signs. */
const maxForeignGap = 8;

/** Returns quickly whether a letter beyond ASCII is a few characters before an offset. */
export const isBehindForeign = (text: string, start: number): boolean => {
  for (let index = start - 1; index >= start - maxForeignGap; index -= 1) {
    if (isForeignLetter(codeAt(text, index))) return true;
  }
  return false;
};

/** Whether a value that is unlike a word is behind a word for a password with letters beyond ASCII, as in `パスワードは …`. */
export const isForeignNamed = (reader: Reader, start: number, end: number): boolean => {
  if (!isBehindForeign(reader.text, start)) return false;
  const value = reader.text.slice(start, end);
  if (!isChosen(value) || isPlaceholder(value) || value.includes(reader.replacement)) return false;
  const before = reader.text.slice(Math.max(reader.barrier, start - maxForeign), start);
  if (foreignBefore.test(before)) return true;
  return looksRandom(value) && !isPublicIdentifier(value) && foreignKeyBefore.test(before);
};

const isChosen = (value: string): boolean =>
  looksRandom(value) ||
  isNumbered(value) ||
  isNoisy(value) ||
  (isUnlikeWord(value) && isMixed(value, { isQuoted: false })) ||
  (/\d/.test(value) && isPassphrase(value));
