import { codeAt, is, key as nameClass, kindOf, likelyStop, word } from '../text/characters.js';
import { isNoisy, isNounName, isUnlikeWord, isWordless, path, snakeName } from '../values/chosen-value.js';
import { isManagement, maxKeyLength, mayEndKey } from '../names/key-name.js';
import { mentionTest } from '../names/mentions.js';
import { isRandomLetters, isRandomMixed } from '../values/random-letters.js';
import type { Reader } from '../text/reader.js';
import { isReference } from '../values/judged-value.js';
import { isOfDigest, readKey, type Key } from '../names/key.js';
import { isLineStart } from '../values/value-extent.js';
import { isPublicIdentifier, looksRandom } from '../values/value.js';

/** Maximum number of signs and spaces between a name and a value. */
const maxSigns = 48;
const maxValue = 512;
/** Maximum number of letters and signs beyond ASCII between a name and a value, such as a particle or an arrow. */
const maxParticles = 8;
const minWeak = 16;
/** Matches the first words of a type, up to its last digit. */
const typeStart = /^[A-Z][A-Za-z]*(?:Auth|Scheme|Security)[A-Za-z]*\d(?=[A-Z][A-Za-z]*[a-z]{3}$)/;
const space = 32;
const opening = 40;
const colon = 58;
const comma = 44;
const dot = 46;
const equals = 61;
const backslash = 92;
const letterS = 115;

const isQuote = (code: number): boolean => code === 34 || code === 39 || code === 96;

/** Returns the end of the name before the signs that lead to a value; 0 if other characters are between them. */
const endOfName = (text: string, start: number): number => {
  let end = start;
  // The letter of `f"…"`.
  if (isQuote(codeAt(text, end - 1)) && /[^\w][bfrnul]$/i.test(text.slice(end - 3, end - 1))) end -= 2;
  const floor = Math.max(0, end - maxSigns);
  let particles = 0;
  while (end > floor && particles < maxParticles && !is(codeAt(text, end - 1), word)) {
    if (codeAt(text, end - 1) > 127) particles += 1;
    end -= 1;
  }
  return end === floor || end === start || particles === maxParticles ? 0 : end;
};

/** Maximum length of a label between a name with an opening bracket and a value, as in `password(default:…)`. */
const maxLabel = 16;

/** Returns the end of the name before a label in brackets that ends here; the same offset without one. */
const beforeLabel = (text: string, end: number): number => {
  const next = codeAt(text, end);
  if (next !== colon && next !== equals) return end;
  let start = end;
  while (end - start < maxLabel && kindOf(codeAt(text, start - 1)) % 3 !== 0) start -= 1;
  if (start === end || codeAt(text, start - 1) !== opening) return end;
  return codeAt(text, start - 2) === space ? start - 2 : start - 1;
};

/**
 * Returns the end of a name in quotes before a method or a label that ends here, as in `"password"), with: "…"`; the same
 * offset without one.
 *
 * @param start the start of the value
 */
const beforeMethod = (text: string, end: number, start: number): number => {
  const next = codeAt(text, end);
  if (next !== opening && next !== colon && !(next === space && end + 2 === start)) return end;
  if (!isQuote(codeAt(text, start - 1))) return end;
  let at = end;
  while (end - at < maxLabel && is(codeAt(text, at - 1), word)) at -= 1;
  if (at === end) return end;
  if (codeAt(text, at - 1) === space) at -= 1;
  const sign = codeAt(text, at - 1);
  if (sign !== comma && sign !== dot) return end;
  at -= 1;
  while (at > end - maxLabel * 2 && closings.has(codeAt(text, at - 1))) at -= 1;
  return isQuote(codeAt(text, at - 1)) ? at - 1 : end;
};
/** The brackets that close around a name in quotes. */
const closings: ReadonlySet<number> = new Set([41, 93]);

/** Returns the end of the name before the signs, the label or the method that lead to a value. */
const endOfLabeled = (text: string, signsStart: number, start: number): number => {
  const end = beforeLabel(text, signsStart);
  return end === signsStart && end > 0 ? beforeMethod(text, signsStart, start) : end;
};

/** Whether a name ends like `pass` or a plural. */
const isPlural = (text: string, end: number): boolean => (codeAt(text, end - 1) | 32) === letterS;
/** Returns quickly whether a name may have a word for a secret in it, by three letters of each. */
const mayMention = mentionTest('cre ass oke red key nha', 24);

/** Returns quickly whether a value may be behind the name of a secret with only signs between them. */
export const mayBeBehindSigns = (text: string, start: number): boolean => {
  const end = endOfLabeled(text, endOfName(text, start), start);
  return end > 0 && (mayEndKey(text, end) || (isPlural(text, end) && mayMention(text, end)));
};

/** Matches `backend_pass` and `rootPass`, and the word alone. */
const passName = /(?:[A-Za-z\d][_-]pass|[A-Z\d][_-]PASS|[a-z\d]Pass|(?:^|[^\w.-])(?:pass|Pass|PASS))$/;

/** Matches a name that mentions a secret, but not a property of it or a value that is public. */
const mentioning = /secret|passw|passphrase|token|credential|(?:api|private|access)[_-]?key|senha/i;
const ofProperty =
  /public|next|page|continuation|[cx]srf|nonce|cache|foreign|lock|encrypted|sealed|(?:id|name|hash|digest|sum|ur[il]|path|file|arn|type|format|size|date|version|label|field|index|ref|host|print|cert|certificate|signature|cursor|policy|test)s?[\d_-]*$/i;
/** Minimum length of a random value whose name only mentions a secret. */
export const minMentioned = 16;

/** Returns the key of a name that mentions a secret, as in `api_token_123` and `todo_secret_do_not_commit`. */
const mentionBefore = ({ text, barrier }: Reader, end: number): Key | undefined => {
  const floor = Math.max(barrier, end - maxKeyLength);
  let start = end;
  while (start > floor && is(codeAt(text, start - 1), nameClass)) start -= 1;
  const name = text.slice(start, end);
  // The position in a list.
  if (/\b(?:next|previous) page $/i.test(text.slice(Math.max(barrier, start - 16), start))) return undefined;
  const isCall = codeAt(text, end) === opening;
  if (isCall || end - start === maxKeyLength || !mentioning.test(name) || ofProperty.test(name)) return undefined;
  if (isManagement(name.replace(/^-+/, ''))) return undefined;
  return { name, strength: 'weak', start, isQuoted: true, isTight: false };
};

const keyBefore = (reader: Reader, end: number): Key | undefined => {
  const key = mayEndKey(reader.text, end) ? readKey(reader, end, end) : undefined;
  if (key !== undefined) return key;
  return passName.test(reader.text.slice(Math.max(reader.barrier, end - 8), end))
    ? { name: 'pass', strength: 'strong', start: end - 4, isQuoted: true, isTight: false }
    : mentionBefore(reader, end);
};

/** Matches signs that lead to a value in quotes: at most one line feed, and behind it or a call an operator. */
const beforeQuoted = /^(?=[^\n]*\n?[^\n]*$)(?![^]*[)}]\s*["'`\\]+$)[\s"'`\\=!:,(){}[\]|<>?+@-]{1,48}$/;
/** Matches signs that lead to a value without quotes: a colon, an arrow or a line of hyphens. */
const beforePlain = /^(?=[^]*(?:[:>]|-{3}))(?=[^]*\s)[ \t"'`*)\]:=>-]{1,48}(?<![-"'`])$/;
/** Matches brackets and signs between a name and a value, a slash with spaces around it, and a sign beyond ASCII. */
const beforeUnlike =
  /^(?:(?=.*[^\s*_/])[*_`]{0,3}[()[\]{}<>|:=~*\t -]{1,8}|[ \t]{1,4}\/[ \t]{1,4}|[ \t:=]{0,4}[\u0080-\uffff]{1,8}[ \t:=]{0,4}|>\r?\n[ \t]{0,40})$/;

/** Matches signs between the items of a list, of which the one before a value may be no name. */
const ofList = /^["'`\\]+,\s*["'`\\]+$/;

/** Matches a list of strings, up to the quote of one behind others, without the name of a user. */
const ofNames = /[[(]\s*(?!-)(?:["'](?![^"']*(?:user|login|account|auth|set$))[A-Za-z][\w-]{0,40}["'],\s*){1,8}["']$/i;
/** Matches names of algorithms. */
const algorithm = /^(?:(?:scram|hmac|rsa|aes)-)*(?:sha|aes|rsa|hmac)-?(?:128|192|224|256|384|512)$/;
/** Matches names of headers that begin with a capital and a digit. */
const numberedHeader = /^[A-Z]\d[A-Z]-[A-Z][a-z]{3,}$/;

/** Whether a value is one of a list of names: an algorithm, or a header behind `Authorization`. */
export const isOfNames = (reader: Reader, { name, start }: Pick<Key, 'name' | 'start'>, value: string): boolean =>
  (algorithm.test(value) || (name === 'Authorization' && numberedHeader.test(value))) &&
  ofNames.test(reader.text.slice(reader.floor(start), start));

/** Whether a name and a value are types of a union: all digits of the value are in what the name begins with. */
export const isOfUnion = (name: string, value: string): boolean => {
  const start = typeStart.exec(value)?.[0];
  return start !== undefined && name.startsWith(start);
};

/** Matches the name of a file, which reports of tests have behind `PASS:`. */
const testFile = /^[\w./-]+\.(?:a|o|so|c|cc|cpp|s|exp|exe|js|ts|py|go|sh)$/;
/** Matches the line of another test, up to `PASS` on the next one. */
const testBefore = /(?:^|\n)(?:X?PASS|X?FAIL|SKIP|UNSUPPORTED|UNTESTED): [^\n]*\nPASS$/;

/** Whether a value is the name of a file in a report of tests. */
const isTestFile = (reader: Reader, { name, start }: Key, value: string): boolean =>
  name === 'pass' && testFile.test(value) && testBefore.test(reader.text.slice(reader.floor(start), start + 4));

/** Matches what kubectl did with the secret whose name is before, at the end of a line. */
const changed = /^" (?:created|configured|unchanged|patched|replaced|deleted)(?:[\r\n]|$)/;

/** Whether a line consists of the name of a secret of Kubernetes and what kubectl did with it. */
const isChanged = (reader: Reader, { name, start }: Key, end: number): boolean =>
  name === 'secret' && isLineStart(reader, start) && changed.test(reader.slice(end, end + 14));

/** Whether a value is neither a name nor a path of names in code. */
const isUnlikeName = (value: string): boolean =>
  (looksRandom(value) && !path.test(value) && !snakeName.test(value)) ||
  isRandomMixed(value) ||
  isRandomLetters(value) ||
  isNoisy(value) ||
  (isUnlikeWord(value) && !/^[\w$.]+$/.test(value));

/** Matches two words with capitals, as names of types have, up to the length of most of these. */
const typeName = /^(?=.{1,28}$).*[A-Za-z][a-z]{3}.*[A-Z][a-z]{3}/;

/** Whether a value is random or has no words, so that it is no name behind any sign. */
export const isUnlike = (value: string): boolean =>
  !isNounName(value) && (isWordless(value) || isRandomMixed(value) || (isUnlikeName(value) && !typeName.test(value)));

/**
 * Returns the end of a value that is unlike a word, if it is behind the name of a secret and only signs are between them:
 * brackets, operators, quotes and a line feed, as in `Key{\n "…"`, `['password'], "…"` and `password  ----  …`.
 */
export const endBehindSigns = (reader: Reader, start: number, last: number): number | undefined => {
  const { text } = reader;
  const signsStart = endOfName(text, start);
  const nameEnd = endOfLabeled(text, signsStart, start);
  if (nameEnd <= reader.floor(start)) return undefined;
  const key = keyBefore(reader, nameEnd);
  // A part of a longer name, as the type of a resource.
  if (key === undefined || reader.before(key.start) === colon || isOfDigest(reader, key.start)) return undefined;
  const signs = nameEnd < signsStart ? '(' : text.slice(nameEnd, start).replace('.=', '=');
  const quote = codeAt(text, start - 1);
  let end = reader.endOfRun(last, likelyStop, maxValue, false);
  if (end === last + maxValue) return undefined;
  while (end < last + maxValue && reader.code(end) === equals) end += 1;
  if (reader.matches(reader.replacement, end)) return undefined;
  // The type of a parameter in C.
  if (codeAt(text, start - 1) === opening && reader.matches(' *', end)) return undefined;
  const value = text.slice(start, end);
  if (isReference(value, key.name, { isLiteral: false })) return undefined;
  if (key.strength !== 'strong') {
    if (value.length < minWeak || !looksRandom(value) || isPublicIdentifier(value)) return undefined;
    if (!mayEndKey(text, nameEnd) && typeName.test(value) && !isRandomMixed(value)) return undefined;
  }
  if (/^[a-z\d.-]+$/.test(value) && isChanged(reader, key, end)) return undefined;
  if (isTestFile(reader, key, value)) return undefined;
  if (signs.includes('|') && isOfUnion(key.name, value)) return undefined;
  if (!isQuote(quote)) {
    const isJoined = beforePlain.test(signs) ? isUnlikeName(value) : beforeUnlike.test(signs) && isUnlike(value);
    return isJoined ? end : undefined;
  }
  const close = reader.code(end) === backslash ? end + 1 : end;
  if (reader.code(close) !== quote || !beforeQuoted.test(signs.replace(/[bfrnul](?=["'`]$)/i, ''))) return undefined;
  // The name of a member has a colon behind it.
  if (reader.code(close + 1) === colon && /[{,]\s*["'`\\]+$/.test(signs)) return undefined;
  if (isPublicIdentifier(value) && !/[=:]/.test(signs)) return undefined;
  const isOfMethod = nameEnd < signsStart && isQuote(codeAt(text, nameEnd));
  if (isOfMethod) return isUnlike(value) ? end : undefined;
  if (ofList.test(signs) && isOfNames(reader, key, value)) return undefined;
  const isSecret = ofList.test(signs) ? isUnlikeName(value) : looksRandom(value) || isUnlikeWord(value);
  return isSecret ? end : undefined;
};
