import { is, lineBreak, stop, word } from './characters.js';
import { isCall, isMixed, isUnlikeWord } from './chosen-value.js';
import { findUserPassword } from './command-line.js';
import { cookieName, findAuthorization, findCookies } from './headers.js';
import { foreignKey } from './foreign-names.js';
import { keyStrength, mayEndKey } from './key-name.js';
import { findLoginPair } from './login-pairs.js';
import { findFormField, findNamedValue, isFieldName, isValueName, findPointedAt } from './named-value.js';
import { findNested } from './nested-values.js';
import { beforeAccessors, beforeAccount, beforeNumber, beforeOwner, beforeType, beforeVerb } from './name-before.js';
import { findAfterWords } from './nearby.js';
import { endOfQuoted, quoteAt, quoteBefore } from './quotes.js';
import { findPuttyKey } from './private-key.js';
import { findQueryValue, isQueryName } from './query.js';
import { findRecoveryCodes, findRecoveryWords } from './recovery-codes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import {
  afterElements,
  endsLine,
  isGap,
  isSetting,
  maxSpaces,
  readKey,
  skipGap,
  valueOf,
  type Key,
} from './value-of-name.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from './value.js';

const equals = 61;
const colon = 58;
const above = 62;
const percent = 37;
const hyphen = 45;
const brace = 123;
const opening = 40;
const closing = 41;
const lineFeed = 10;
const digit0 = 48;
const letterX = 120;
/** Matches what `var_dump` prints before a string. */
const dumped = /^\n {1,40}string\(\d{1,4}\) (?=")/;
const maxQuoted = 4096;
/** Minimum length of a member of a JSON web key, which has 32 bytes. */
const minKeyMember = 42;

/** A sign between a name and a value. */
interface Sign {
  readonly start: number;
  readonly end: number;
  readonly isColon: boolean;
}

/**
 * Finds the value of `API_KEY=…`, `"password": "…"`, `x-api-key: …`, `password%22%3A%22…` and similar notations. Called
 * for the sign, or for the last character of an encoded sign.
 */
export const findAssignment = (reader: Reader, index: number): Secret | undefined => {
  const sign = signAt(reader, index);
  if (sign === undefined) return undefined;
  const written = endOfName(reader, sign.start);
  if (written === undefined) return undefined;
  if (isFieldName(reader, sign, written)) return findFormField(reader, sign.end);
  if (isValueName(reader, written)) return findNamedValue(reader, sign.end, written);
  if (sign.isColon && reader.code(sign.end) === lineFeed) {
    const phrase = findRecoveryWords(reader, written, sign.end);
    if (phrase !== undefined || reader.starved) return phrase;
    const codes = findRecoveryCodes(reader, written, sign.end);
    if (codes !== undefined || reader.starved) return codes;
    return findAnnounced(reader, sign, written) ?? (reader.starved ? undefined : findItems(reader, sign, written));
  }
  if (sign.isColon && written < sign.start && isKeyMember(reader, written)) return findKeyMember(reader, sign.end);
  if (sign.isColon && isPuttyName(reader, written)) return findPuttyKey(reader, sign.start);
  if (!sign.isColon && written === sign.start && isLogin(reader, written)) {
    return findUserPassword(reader, sign.start, sign.end);
  }
  if (!sign.isColon && written === sign.start && isQueryName(reader, written)) return findQueryValue(reader, sign.end);
  const foreign = sign.isColon ? foreignKey(reader, written) : undefined;
  if (foreign !== undefined) {
    return valueOf(reader, foreign, afterElements(reader, skipGap(reader, sign.end)), { isColon: true });
  }
  let nameEnd = written;
  let typeEnd = written;
  if (!mayEndKey(reader.text, nameEnd)) {
    nameEnd = sign.isColon
      ? beforeVerb(reader, beforeOwner(reader, beforeNumber(reader, written)))
      : beforeAccessors(reader, beforeAccount(reader, written));
    if (nameEnd === written && !sign.isColon) nameEnd = typeEnd = beforeType(reader, written);
    if (nameEnd === written && shortKey(reader, nameEnd, sign) === undefined) return findUnnamed(reader, sign, written);
    if (nameEnd !== written && !mayEndKey(reader.text, nameEnd)) return undefined;
  }
  const key = readKey(reader, nameEnd, sign.start) ?? shortKey(reader, nameEnd, sign);
  if (key === undefined) return findUnnamed(reader, sign, written);
  const pair = key.strength === 'strong' ? findLoginPair(reader, key, nameEnd) : undefined;
  if (pair !== undefined || reader.starved) return pair;
  if (sign.isColon && isPartOfName(reader, key)) return undefined;
  if (key.name === 'pass' && !key.isTight) {
    return findPass(reader, key, sign) ?? (reader.starved ? undefined : findPassArgument(reader, sign, nameEnd));
  }
  const start = startOfValue(reader, sign, key);
  if (start === undefined) return undefined;
  const hasType = typeEnd !== written;
  const last = key.name.charCodeAt(key.name.length - 1) | 32;
  if ((last === 101 || last === 50) && cookieName.test(key.name)) return findCookies(reader, start);
  if (last === 110 && /authorization$/i.test(key.name)) return findAuthorization(reader, start);
  // Terraform prints maps as calls.
  const open = reader.matches('tomap(', start) ? start + 6 : start;
  if (reader.code(open) === brace) return findNested(reader, key, open);
  const isArrow = reader.code(sign.end) === above;
  if (isArrow && !key.isQuoted) return findPointedAt(reader, key, start);
  const isArgument =
    key.strength === 'weak' &&
    !sign.isColon &&
    ((key.isTight && isFlagOrParameter(reader, key.start)) ||
      (/^(?:\w+[_.-])?token$/i.test(key.name) && !key.isQuoted && isSetting(reader, key.start, start)));
  const found = valueOf(reader, isArgument ? { ...key, strength: 'strong' } : key, start, { isColon: sign.isColon });
  if (reader.starved) return undefined;
  if (found !== undefined && isUserOfPair(reader, key, found.end)) return undefined;
  if (found !== undefined && isArgument) {
    const isId = isPublicIdentifier(reader.text.slice(found.start, found.end));
    const isChosen = isId || (key.isTight && isUnlikeName(reader, found)) || reader.isRandom(found.start, found.end);
    if (!isChosen || isBadge(reader, key, start)) return undefined;
  }
  if (found !== undefined && hasType && !isQuoteBefore(reader, found.start)) return undefined;
  if (found !== undefined && reader.code(sign.end) === equals && !isUnlikeName(reader, found)) return undefined;
  if (found === undefined && sign.isColon && key.strength === 'weak') return findAfterWords(reader, written, sign.end);
  const isPair = found === undefined && /(?:auth|ident|credentials?|creds)$/i.test(key.name);
  return isPair ? findUserPassword(reader, sign.start, start) : withChange(reader, key, start, found);
};

/** Finds the value of a name that is secret only in its object or behind other words. */
const findUnnamed = (reader: Reader, sign: Sign, end: number): Secret | undefined => {
  const member = findMember(reader, sign, end);
  return member !== undefined || reader.starved || !sign.isColon ? member : findAfterWords(reader, end, sign.end);
};

/** Whether the value is the user in `credentials: joe / …`, of which the password is found at the slash. */
const isUserOfPair = (reader: Reader, { name }: Key, end: number): boolean =>
  reader.code(end) === 32 && /(?:credentials?|creds)$/i.test(name) && reader.matches(' / ', end);

/** Whether the name is `login`, or `user` at the beginning of a line. */
const isLogin = (reader: Reader, end: number): boolean => {
  if (reader.text.endsWith(' login', end)) return true;
  const before = reader.text.endsWith('user', end) ? reader.before(end - 4) : 0;
  return Number.isNaN(before) || before === lineFeed;
};

const isPluralOfCode = (text: string, end: number): boolean =>
  text.charCodeAt(end - 3) === 100 && text.endsWith('odes', end);

/** Matches what is before the last part of a type of CloudFormation. */
const resourceType = /["'][A-Z][A-Za-z\d]{1,31}::[A-Z][A-Za-z\d]{1,31}::$/;
/** Matches what is before the kind of a resource in its name. */
const resource = /\barn:aws[\w-]{0,12}:secretsmanager:[\w-]{0,24}:\d{0,12}:$/;

/** Whether the name is part of the type or the name of a resource of AWS. */
const isPartOfName = (reader: Reader, { name, start, isQuoted, isTight }: Key): boolean => {
  if (reader.before(start) !== colon || !(isQuoted || (isTight && name === 'secret'))) return false;
  return (isQuoted ? resourceType : resource).test(reader.text.slice(Math.max(reader.barrier, start - 80), start));
};

/** Whether a name begins behind the hyphens of a flag, or is that of a parameter of a URL. */
const isFlagOrParameter = ({ text }: Reader, start: number): boolean =>
  text.endsWith('--', start) || text.endsWith(' -', start) || text.endsWith('?', start) || text.endsWith('&', start);

/** Matches the URL of a badge, whose token is public. */
const badge = /\/(?:badge\.svg|\/img\.shields\.io\/[\w./-]{1,80})\?(?:[\w-]{1,16}=[\w-]{0,24}&(?:amp;)?){0,2}$/;
const maxBadgeToken = 12;

/** Whether the value is the token of a badge. */
const isBadge = (reader: Reader, { name, start }: Key, from: number): boolean =>
  name === 'token' &&
  badge.test(reader.text.slice(reader.floor(start), start)) &&
  reader.endOfRun(from, stop, maxBadgeToken + 1, false) - from <= maxBadgeToken;

const isQuoteBefore = ({ text }: Reader, index: number): boolean => /["'`]/.test(text.charAt(index - 1));

/** Whether a value may be compared with a secret: names of states and kinds are compared with variables, too. */
const isUnlikeName = ({ text }: Reader, { start, end }: Secret): boolean =>
  looksRandom(text.slice(start, end)) || isUnlikeWord(text.slice(start, end));

/** Matches an old value that is not shown, and what follows an old value, in a plan of Terraform or Pulumi. */
const hiddenValue = /^\([\w ]{1,30}\)/;
const changeSign = /^["')]? {1,4}(?:->|=>|→) {1,4}(?=\S)/;

/** Adds the new value of `password = "old" -> "new"`, of which the old one may be hidden. */
const withChange = (reader: Reader, key: Key, start: number, old: Secret | undefined): Secret | undefined => {
  const end = endOfOld(reader, start);
  if (end === undefined || (reader.code(end) !== 32 && reader.code(end + 1) !== 32)) return old;
  const sign = changeSign.exec(reader.slice(end, end + 12));
  const changed = sign === null ? undefined : valueOf(reader, key, end + sign[0].length, { isColon: true });
  if (changed === undefined) return old;
  return old === undefined ? changed : { ...old, more: [old, changed] };
};

/** Maximum length of an old value without quotes. */
const maxOld = 64;

/** Returns the end of the old value, before the quote or bracket that closes it. */
const endOfOld = (reader: Reader, start: number): number | undefined => {
  if (reader.code(start) === 40) {
    const hidden = hiddenValue.exec(reader.slice(start, start + 32));
    return hidden === null ? undefined : start + hidden[0].length - 1;
  }
  const quote = quoteAt(reader, start);
  if (quote === undefined) return reader.endOfRun(start, stop, maxOld, false);
  return quote.literal.length === 1 ? endOfQuoted(reader, quote.end, quote.literal, maxQuoted) : undefined;
};

const isPuttyName = ({ text }: Reader, end: number): boolean =>
  text.charCodeAt(end - 6) === hyphen && text.endsWith('Private-Lines', end);

/** Whether the name is that of a private member of a JSON web key, in quotes. */
const isKeyMember = (reader: Reader, end: number): boolean => {
  const code = reader.text.charCodeAt(end - 1);
  if (code !== 100 && code !== 107 && code !== 112 && code !== 113 && code !== 105) return false;
  return /["'](?:d|k|p|q|dp|dq|qi)$/.test(reader.text.slice(Math.max(reader.barrier, end - 3), end));
};

/** Finds the value of a private member of a JSON web key. */
const findKeyMember = (reader: Reader, from: number): Secret | undefined => {
  const quote = quoteAt(reader, skipGap(reader, from));
  const end = quote === undefined ? undefined : endOfQuoted(reader, quote.end, quote.literal, maxQuoted);
  if (quote === undefined || end === undefined || end - quote.end < minKeyMember) return undefined;
  const value = reader.text.slice(quote.end, end);
  return /^[\w-]+$/.test(value) && looksRandom(value) ? { kind: 'json-web-key', start: quote.end, end } : undefined;
};

/** Matches the name of the object of a member. */
const ofObject = /([A-Za-z][\w-]{1,31})["']?\s{0,2}[:=]\s{0,2}(?:\{[^{}]{0,100}|\n {1,12}["']?key)$/;
/** Matches keys of 16 to 64 bytes in base64 with padding; public keys begin with their type or are longer. */
const symmetricKey = /^(?!AAAA|M[CDFI])(?=.{24,88}$)(?:[A-Za-z\d+/]{4}){5,21}[A-Za-z\d+/]{2,3}={1,2}$/;
/** Matches what makes bytes of a string. */
const bytes = /^(?:\[\]byte\(|Buffer\.from\(|b(?=["']))/;
const minMember = 16;
const maxMember = 512;

/**
 * Finds the codes behind `Recovery codes: …`, and the random value of `key` in an object whose name makes it secret, as
 * in `"Jwt": { "Key": "…" }`.
 */
const findMember = (reader: Reader, sign: Sign, end: number): Secret | undefined => {
  const { text } = reader;
  if (sign.isColon && text.charCodeAt(end - 1) === 115 && isPluralOfCode(text, end)) {
    return findRecoveryCodes(reader, end, sign.end);
  }
  if ((text.charCodeAt(end - 1) | 32) !== 121 || !/["'\s{,]key$/i.test(text.slice(end - 4, end))) return undefined;
  const gap = skipGap(reader, sign.end);
  const wrapper = sign.isColon ? undefined : bytes.exec(reader.slice(gap, gap + 14))?.[0].length;
  const from = gap + (wrapper ?? 0);
  const quote = quoteAt(reader, from);
  const start = quote?.end ?? from;
  const valueEnd =
    quote === undefined
      ? reader.endOfRun(from, stop, maxMember, false)
      : endOfQuoted(reader, start, quote.literal, maxQuoted);
  if (valueEnd === undefined || valueEnd - start < minMember) return undefined;
  const value = text.slice(start, valueEnd);
  if (!looksRandom(value) || isPlaceholder(value) || value.includes(reader.replacement)) return undefined;
  const found: Secret = { kind: 'assignment', start, end: valueEnd };
  if (!sign.isColon) {
    const isSetting = symmetricKey.test(value) && /(?:^|\n)[ \t]*$/.test(text.slice(reader.floor(end), end - 3));
    return isSetting || (wrapper !== undefined && quote !== undefined) ? found : undefined;
  }
  const object = ofObject.exec(text.slice(reader.floor(end), end))?.[1];
  return object !== undefined && keyStrength(`${object}_key`) === 'strong' ? found : undefined;
};

/** Returns the name of `pass=…` and `"pass": …`. */
const shortKey = (reader: Reader, end: number, sign: Sign): Key | undefined => {
  const start = end - 4;
  if ((reader.text.charCodeAt(end - 1) | 32) !== 115 || (reader.text.charCodeAt(start) | 32) !== 112) return undefined;
  if (!/^pass$/i.test(reader.text.slice(start, end))) return undefined;
  if (start < reader.barrier || is(reader.before(start), word)) return undefined;
  const isTight = !sign.isColon && end === sign.start;
  return { name: 'pass', strength: 'strong', start, isQuoted: end !== sign.start, isTight };
};

/** Finds the value of `pass: "…"` and `pass = …`. Without quotes or at other places, the word has other meanings. */
const findPass = (reader: Reader, key: Key, sign: Sign): Secret | undefined => {
  const start = startOfValue(reader, sign, key);
  const found = start === undefined ? undefined : valueOf(reader, key, start, { isColon: sign.isColon });
  if (start === undefined || found === undefined) return undefined;
  const isQuoted = quoteAt(reader, start) !== undefined && /^[!-~]+$/.test(reader.text.slice(found.start, found.end));
  const isLine = endsLine(reader, found.end);
  const isField = isQuoted || (isLine && (!sign.isColon || isBelowUser(reader, key.start)));
  return isField || reader.isRandom(found.start, found.end) ? found : undefined;
};

/** Whether the line before ends with the name of a user. */
const isBelowUser = (reader: Reader, start: number): boolean =>
  /(?:^|\n)[^\n\w]{0,8}(?:user(?:[_ ]?name)?|login|account|e-?mail)["']?\s{0,4}[:=][^\n]{1,80}\n[^\n\w]{0,8}$/i.test(
    reader.text.slice(reader.floor(start), start),
  );

const signAt = (reader: Reader, index: number): Sign | undefined => {
  const { text } = reader;
  const code = text.charCodeAt(index);
  if (code === colon || code === equals) return { start: index, end: index + 1, isColon: code === colon };
  if (code === hyphen) return { start: index - 1, end: index + 1, isColon: false };
  const start = index - 2;
  if (text.charCodeAt(start) === percent && start >= reader.barrier) {
    return { start, end: index + 1, isColon: (code | 32) === 97 };
  }
  const escape = /\\+u003[ad]$/i.exec(text.slice(Math.max(reader.barrier, index - 12), index + 1));
  return escape === null
    ? undefined
    : { start: index + 1 - escape[0].length, end: index + 1, isColon: (code | 32) === 97 };
};

/** Returns the end of the name of a sign: before `:=` and `?:`, closing brackets, emphasis, spaces and a quote. */
const endOfName = (reader: Reader, index: number): number | undefined => {
  const { text, barrier } = reader;
  let end = index;
  const before = text.charCodeAt(end - 1);
  if (text.charCodeAt(index) === equals && (before === colon || before === 63 || before === 43)) end -= 1;
  while (end > barrier && index - end < maxSpaces && isGap(text.charCodeAt(end - 1))) end -= 1;
  // The end of the element around the name.
  if (text.charCodeAt(end - 1) === above && text.charCodeAt(index) === colon) {
    end -= /(?:<\/\w{1,8}>){1,3}$/.exec(text.slice(Math.max(barrier, end - 36), end))?.[0].length ?? 0;
  }
  // The brackets of an array in C.
  if (text.charCodeAt(end - 1) === 91 && text.charCodeAt(end) === 93 && end - 1 > barrier) end -= 1;
  // PostgreSQL prints `(name)=(value)`.
  if (text.charCodeAt(end - 1) === closing && reader.code(index + 1) === opening) end -= 1;
  else if (text.charCodeAt(end - 1) === closing && text.charCodeAt(index) === colon) end = beforeRemark(reader, end);
  end = quoteBefore(reader, end);
  return end > barrier ? end : undefined;
};

const maxRemark = 48;

/** Returns the end of the name in `password (case sensitive): …`. */
const beforeRemark = ({ text, barrier }: Reader, end: number): number => {
  const near = text.slice(Math.max(barrier, end - maxRemark), end);
  return end - (/ \([^()\n"'`]{1,40}\)$/.exec(near)?.[0].length ?? 0);
};

const startOfValue = (reader: Reader, sign: Sign, key: Key): number | undefined => {
  const next = reader.code(sign.end);
  const isArrow = next === above && !sign.isColon;
  // `name:: …` has a value in base64.
  const isEncoded = next === colon && sign.isColon && reader.code(sign.end + 1) === 32;
  if (isEncoded) return sign.end + 2;
  const comparison =
    next === equals && !sign.isColon ? /^=={0,1} {1,4}(?=["'])/.exec(reader.slice(sign.end, sign.end + 8)) : null;
  if (comparison !== null) return sign.end + comparison[0].length;
  if (!isArrow && (next === equals || next === colon || next === above)) return undefined;
  // The default in `${PASSWORD:-…}`.
  const isDefault = next === hyphen && sign.isColon && reader.text.charCodeAt(key.start - 1) === brace;
  const isInBrackets = next === opening && reader.text.charCodeAt(sign.start - 1) === closing;
  const gap = skipGap(reader, sign.end + (isArrow || isDefault || isInBrackets ? 1 : 0));
  const start = sign.isColon ? afterTag(reader, afterElements(reader, gap)) : afterAddress(reader, gap);
  if (!isArrow || reader.code(start) !== lineFeed) return start;
  const type = dumped.exec(reader.slice(start, start + 64));
  return type === null ? start : start + type[0].length;
};

/** Returns the offset behind the address that a debugger prints before a string. */
const afterAddress = (reader: Reader, from: number): number =>
  reader.code(from) === digit0 && reader.code(from + 1) === letterX
    ? from + (/^0x[\da-f]{1,16} (?=")/.exec(reader.slice(from, from + 20))?.[0].length ?? 0)
    : from;

/** Returns the offset behind an anchor or a tag of YAML. */
const afterTag = (reader: Reader, from: number): number => {
  const first = reader.code(from);
  if (first !== 38 && first !== 33) return from;
  return from + (/^(?:&[\w-]{1,32}|!{1,2}\w{1,16}) (?=\S)/.exec(reader.slice(from, from + 36))?.[0].length ?? 0);
};

const announcement =
  /\b(?:password|passphrase|secret|token|(?:api|access|secret|private|signing|recovery|license) key)\b[^\n]{0,80}$/i;
/** Matches a line that consists of one word. */
const onlyWord = /^\s{1,24}([\w.~+/!@#$%^&*?=-]{8,256})[ \t]*(?:\r?\n|$)/;

/** Finds a random or chosen value on a line below `Use the following password:`. */
const findAnnounced = (reader: Reader, sign: Sign, nameEnd: number): Secret | undefined => {
  // Most lines that follow have several words.
  const found = onlyWord.exec(reader.slice(sign.end, sign.end + 300));
  if (found === null) return undefined;
  const announced = announcement.exec(reader.text.slice(Math.max(reader.floor(nameEnd), nameEnd - 110), nameEnd));
  if (announced === null) return undefined;
  const value = found[1] ?? '';
  const isChosen = /^pass/i.test(announced[0]) && isMixed(value, { isQuoted: false }) && !isCall(value);
  const start = sign.end + found[0].indexOf(value);
  if (!(looksRandom(value) && value.length >= 16) && !isChosen) return findIndented(reader, sign, nameEnd, start);
  if (isPlaceholder(value) || /^[A-Za-z_]\w*=[a-z]+\./i.test(value)) return undefined;
  return { kind: 'assignment', start, end: start + value.length };
};

/** Finds a value that is indented further than its name, which is a whole line, too. */
const findIndented = (reader: Reader, sign: Sign, nameEnd: number, start: number): Secret | undefined => {
  const key = mayEndKey(reader.text, nameEnd) ? readKey(reader, nameEnd, sign.start) : undefined;
  const indent = /(?:^|\n)( *)$/.exec(reader.text.slice(reader.floor(nameEnd), key?.start ?? nameEnd))?.[1];
  if (key?.strength !== 'strong' || indent === undefined) return undefined;
  return start - sign.end > indent.length + 2 ? valueOf(reader, key, start, { isColon: true }) : undefined;
};

/** Matches the beginning of an item of a list in YAML. */
const item = /^\r?\n {0,40}- /;
const maxItems = 8;

/** Finds the values in a list below `passwords:`. */
const findItems = (reader: Reader, sign: Sign, nameEnd: number): Secret | undefined => {
  const key = mayEndKey(reader.text, nameEnd) ? readKey(reader, nameEnd, sign.start) : undefined;
  if (key === undefined) return undefined;
  const found: Secret[] = [];
  let end = sign.end;
  if (!item.test(reader.slice(end, end + 44))) return findNested(reader, key, end);
  for (let items = 0; items < maxItems; items += 1) {
    const head = item.exec(reader.slice(end, end + 44));
    if (head === null) break;
    const start = end + head[0].length;
    const secret = valueOf(reader, key, start, { isColon: true });
    if (secret !== undefined && endsLine(reader, secret.end + (quoteAt(reader, start)?.literal.length ?? 0))) {
      found.push(secret);
    }
    end = reader.endOfRun(start, lineBreak, 128, false);
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Finds the password of an openssl argument such as `-passin pass:…`. */
const findPassArgument = (reader: Reader, sign: Sign, nameEnd: number): Secret | undefined => {
  if (
    !sign.isColon ||
    !/ -(?:-\w{1,8}-)?pass(?:in|out)? ["']?pass$/.test(
      reader.text.slice(Math.max(reader.barrier, nameEnd - 24), nameEnd),
    )
  ) {
    return undefined;
  }
  const key: Key = { name: 'pass', strength: 'strong', start: nameEnd - 4, isQuoted: false, isTight: true };
  return valueOf(reader, key, sign.end, { isLiteral: true });
};
