import { withChange } from '../values/changed-value.js';
import { is, stop, word } from '../text/characters.js';
import { isPasswordLike, isUnlikeWord } from '../values/chosen-value.js';
import { findUserPassword } from '../commands/command-line.js';
import { foreignKey } from '../names/foreign-names.js';
import { afterElements, endsLine, skipGap } from '../text/gaps.js';
import { cookieName, findAuthorization, findCookies, findNodeCookie } from './headers.js';
import { mayEndKey } from '../names/key-name.js';
import { isOfDigest, type Key, readKey } from '../names/key.js';
import { findLoginPair } from '../commands/login-pairs.js';
import { mayNamePair } from '../names/may-be-named.js';
import {
  beforeAccessors,
  beforeAccount,
  beforeNumber,
  beforeOwner,
  beforeType,
  beforeVerb,
} from '../names/name-before.js';
import { findParameter } from './parameters.js';
import { findFormField, findNamedValue, findPointedAt, isFieldName, isValueName } from './named-value.js';
import { findAfterWords } from '../likely/nearby.js';
import { findNested } from './nested-values.js';
import { findKeyMember, findMember, isKeyMember } from './object-members.js';
import { findPuttyKey } from '../tokens/private-key.js';
import { findQueryValue, isQueryName } from './query.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import { findRecoveryCodes, findRecoveryWords } from '../tokens/recovery-codes.js';
import type { Secret } from '../text/replace.js';
import { endOfName, type Sign, signAt, startOfValue } from '../names/sign.js';
import { isSetting } from '../values/value-extent.js';
import { valueOf } from '../values/value-of-name.js';
import { isPublicIdentifier, looksRandom } from '../values/value.js';
import { findAnnounced, findItems } from './values-below.js';

const equals = 61;
const colon = 58;
const semicolon = 59;
const above = 62;
const brace = 123;
const lineFeed = 10;
const exclamation = 33;
const maxBadgeToken = 12;

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
  if (mayNamePair(reader.text, written)) return findPairOfName(reader, sign);
  if (sign.isColon && written < sign.start && isKeyMember(reader.text, written)) return findKeyMember(reader, sign.end);
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
  if ((sign.isColon && isPartOfName(reader, key)) || isOfDigest(reader, key.start)) return undefined;
  if (key.name === 'pass' && !key.isTight) {
    return findPass(reader, key, sign) ?? (reader.starved ? undefined : findPassArgument(reader, sign, nameEnd));
  }
  const start = startOfValue(reader, sign, key);
  if (start === undefined || (sign.isColon && (isOfTernary(reader, key) || isExcluded(reader, key, start)))) {
    return undefined;
  }
  const hasType = typeEnd !== written;
  const last = key.name.charCodeAt(key.name.length - 1) | 32;
  if ((last === 101 || last === 50) && cookieName.test(key.name)) {
    return /erlang_cookie$/i.test(key.name) ? findNodeCookie(reader, start) : findCookies(reader, start);
  }
  if (last === 110 && /authorization$/i.test(key.name)) return findAuthorization(reader, start);
  // Terraform prints maps as calls.
  const open = reader.matches('tomap(', start) ? start + 6 : start;
  if (reader.code(open) === brace) {
    const isSetting = !sign.isColon && reader.before(key.start) === semicolon;
    const inBraces = isSetting ? valueOf(reader, key, open) : undefined;
    return inBraces ?? (reader.starved ? undefined : findNested(reader, key, open));
  }
  const parameter = sign.isColon ? undefined : findParameter(reader, key, start);
  if (parameter !== undefined || reader.starved) return parameter;
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
  if (found === undefined && sign.isColon && key.strength === 'weak') {
    const value = findAfterWords(reader, written, sign.end);
    if (value !== undefined || reader.starved) return value;
  }
  const isPair = found === undefined && /(?:auth|ident|credentials?|creds)$/i.test(key.name);
  return isPair ? findUserPassword(reader, sign.start, start) : withChange(reader, key, start, found);
};

/** Matches a password whose user is a part of it, as in licenses of Sidekiq. */
const license = /^["']?([\da-f]{8}:[\da-f]{8})(?=["'\s]|$)/;

/** Finds the password in `ADD_LOCAL_USER=joe:…` and `BUNDLE_GEMS__EXAMPLE__COM: joe:…`. */
const findPairOfName = (reader: Reader, sign: Sign): Secret | undefined => {
  const from = skipGap(reader, sign.end);
  const value = license.exec(reader.slice(from, from + 24))?.[1];
  if (value === undefined) {
    const found = findUserPassword(reader, sign.start, from);
    return found !== undefined && isPasswordLike(reader.text.slice(found.start, found.end)) ? found : undefined;
  }
  const start = from + reader.slice(from, from + 2).indexOf(value.charAt(0));
  return { kind: 'user-password', start, end: start + value.length };
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

/** Whether the name is a string that a condition chooses, as in `isKey ? 'api-key' : 'none'`. */
const isOfTernary = ({ text, barrier }: Reader, { start, isQuoted }: Key): boolean =>
  isQuoted && start - 3 >= barrier && /\? ["'`]$/.test(text.slice(start - 3, start));

/** Whether the name and the value are excluded from a list of ciphers, as in `DEFAULT:!PSK:!SRP`. */
const isExcluded = (reader: Reader, { start }: Key, from: number): boolean =>
  reader.before(start) === exclamation && reader.code(from) === exclamation;

/** Matches what is before the last part of a type of CloudFormation. */
const resourceType = /["'][A-Z][A-Za-z\d]{1,31}::[A-Z][A-Za-z\d]{1,31}::$/;

/** Matches what is before the kind of a resource in its name. */
const resource = /(?:\b|\\[nrt])arn:aws[\w-]{0,12}:secretsmanager:[\w-]{0,24}:\d{0,12}:$/;

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

/** Whether the value is the token of a badge. */
const isBadge = (reader: Reader, { name, start }: Key, from: number): boolean =>
  name === 'token' &&
  badge.test(reader.text.slice(reader.floor(start), start)) &&
  reader.endOfRun(from, stop, maxBadgeToken + 1, false) - from <= maxBadgeToken;

const isQuoteBefore = ({ text }: Reader, index: number): boolean => /["'`]/.test(text.charAt(index - 1));

/** Whether a value may be compared with a secret: names of states and kinds are compared with variables, too. */
const isUnlikeName = ({ text }: Reader, { start, end }: Secret): boolean =>
  looksRandom(text.slice(start, end)) || isUnlikeWord(text.slice(start, end));

const isPuttyName = ({ text }: Reader, end: number): boolean => text.endsWith('Private-Lines', end);

/** Returns the name of `pass=…` and `"pass": …`. */
const shortKey = (reader: Reader, end: number, sign: Sign): Key | undefined => {
  const start = end - 4;
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
