import { isMixed, isNoisy, isPassphrase, isUnlikeWord, isWords, passphraseName } from '../values/chosen-value.js';
import { foreignKey } from '../names/foreign-names.js';
import { bearer, codeAt, is, stop, word } from '../text/characters.js';
import { findCertainLiteral } from '../values/certain-literal.js';
import { findAlignedColumns } from '../named/columns.js';
import { isReference } from '../values/judged-value.js';
import { findLed } from './led.js';
import { findNearby } from '../likely/nearby.js';
import { findLoginPair } from './login-pairs.js';
import { mayBeStated, mayEndSpacedKey } from '../names/key-name.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { endsLine } from '../text/gaps.js';
import { maxSpaces, readKey, type Key } from '../names/key.js';
import { withKeyPair } from '../tokens/tokens.js';
import { isLineStart } from '../values/value-extent.js';
import { valueOf } from '../values/value-of-name.js';
import { isHash, looksRandom, looksRandomBase64 } from '../values/value.js';

/** Minimum length of a random value behind which text may follow. */
const minLong = 32;
/** Maximum length of the name of a secret and what is behind it. */
const maxChanged = 96;
/** A length that no hash has. */
const maxHash = 130;
const colon = 58;
const equals = 61;
const dot = 46;
const hyphen = 45;
const slash = 47;
const bracket = 91;
/** Matches the statements of SQL that identify a user. */
const account = /\b(?:user|role|grant|connect)\b/i;
const identified = /\bIDENTIFIED (?:WITH '?\w{1,40}'? )?BY(?: PASSWORD)?$/i;
/** Matches commands whose arguments are a name and a value. */
const directive =
  /(?:^|\s)(?:ENV|setx|setenv|set -[gUl]{0,3}x|set-environment -g|env[: ](?:set|add)|configure set|config set(?: --?\w{1,12}){0,2}|secrets? set|header_up|(?:proxy_)?set_header|(?:machine|default) (?:\S{1,80} )?login \S{1,80}(?: port \S{1,8})?|^\s*login \S{1,80})\s{1,8}(?:\/\/\S{1,80}:)?$/;

/** Matches the directives of Apache and nginx that pass requests on. */
const proxied = /^(?:ProxyPass|proxy_pass)$/;

/** Names of commands with a user before the secret. */
const secondArgument = /^(?:change_password|wpa_passphrase|auth-pass)$/;

/** Matches the middle of `the password for the account is …` and `password for user 'joe' to '…'`. */
const owner = /^for (?:[\w.@'"-]{1,40} ){1,6}(?:is|to) (?=\S)/;

/** Tests quickly whether {@link directive} may match. */
const mayBeDirective = (near: string): boolean =>
  /[Vvxtprdg]\s{1,8}$/.test(near.slice(-9)) || near.includes('login') || near.endsWith(':');

/** Finds the value of `password hunter2`, as in `.netrc`, configuration files, tables and SQL. Called for the space. */
export const findSpaced = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const led = findLed(reader, index);
  if (led !== undefined || reader.starved) return led;
  if (!mayBeStated(reader.text, index)) {
    return endsWithBy(reader.text, index) ? findIdentifiedBy(reader, index) : undefined;
  }
  const isNamed = mayEndSpacedKey(reader.text, index);
  const early = isNamed ? findBehindKeyword(reader, index) : undefined;
  if (early !== undefined || reader.starved) return early;
  const key = readKey(reader, index, index) ?? foreignKey(reader, index) ?? networkKey(reader, index);
  if (key === undefined || codeAt(text, key.start) === hyphen || proxied.test(key.name)) return undefined;
  if (codeAt(text, key.start - 1) === slash && isChecksum(reader, index + 1)) return undefined;
  if (isChanged(reader, key, index)) return undefined;
  const pair = findLoginPair(reader, key, index);
  if (pair !== undefined || reader.starved) return pair;
  const found = isNamed ? findBehindName(reader, key, index) : undefined;
  if (found !== undefined || reader.starved || key.strength !== 'strong') return found;
  return findNearby(reader, key, index + 1);
};

/** Whether a hash is behind the path of a file, of which the last name may be that of a secret. */
const isChecksum = (reader: Reader, start: number): boolean =>
  isHash(reader.text.slice(start, reader.endOfRun(start, stop, maxHash, false)));

/** Finds the value behind `PASS`, `pass`, `:pass` and the last name of a table. */
const findBehindKeyword = (reader: Reader, index: number): Secret | undefined => {
  if (reader.text.endsWith('PASS', index) && !is(reader.before(index - 4), word)) {
    return definedPass.test(reader.text.slice(reader.floor(index), index))
      ? findLoginPassword(reader, index)
      : findLoginLine(reader, index);
  }
  if (reader.text.endsWith('ass', index) && belowUser.test(reader.text.slice(reader.floor(index), index))) {
    return findLoginPassword(reader, index);
  }
  if (reader.text.endsWith(' pass', index)) return findUsersPass(reader, index);
  if (reader.text.endsWith(':pass', index)) return findKeywordValue(reader, index);
  return reader.code(index + 1) === 32 ? findAlignedColumns(reader, index) : undefined;
};

const findBehindName = (reader: Reader, key: Key, index: number): Secret | undefined => {
  const { text, barrier } = reader;
  const next = reader.code(index + 1);
  // The value behind a sign is found at the sign.
  if (next === equals || next === colon) return undefined;
  const { start, strength } = key;
  const before = reader.before(start);
  const afterSpaces = afterType(reader, afterDots(reader, reader.skipSpaces(index, maxSpaces)));
  const valueStart = secondArgument.test(key.name)
    ? reader.skipSpaces(reader.endOfRun(afterSpaces, stop, 64, false), 4)
    : afterSpaces;
  const near = text.slice(Math.max(barrier, start - 100), start);
  const isQuoted = quoteAt(reader, valueStart) !== undefined;
  const inBrackets = strength === 'strong' ? findInBrackets(reader, key, valueStart) : undefined;
  if (inBrackets !== undefined || reader.starved) return inBrackets;
  if (!isQuoted && is(reader.code(valueStart), stop)) return undefined;
  const ofStatement = isQuoted ? findAccountPassword(reader, key, valueStart) : undefined;
  if (ofStatement !== undefined || reader.starved) return ofStatement;
  if (mayBeDirective(near) && directive.test(near)) {
    if (reader.code(valueStart) === hyphen) return undefined;
    const found = valueOf(reader, key, valueStart, { isColon: true, isLiteral: true });
    // In `tool env add NAME tool env add …`, the command is repeated and the value comes from elsewhere.
    return found !== undefined && near.includes(`${text.slice(found.start, found.end)} `) ? undefined : found;
  }
  if (reader.matches('is ', valueStart)) return findStated(reader, key, valueStart + 3);
  const about = reader.matches('for ', valueStart) ? owner.exec(reader.slice(valueStart, valueStart + 100)) : null;
  if (about !== null) return findStated(reader, key, valueStart + about[0].length);
  if (reader.matches('to ', valueStart) && quoteAt(reader, valueStart + 3) !== undefined) {
    return findStated(reader, key, valueStart + 3);
  }
  const isColumn = valueStart > index + 1 || codeAt(text, index) === 9;
  if (!isQuoted && !isColumn) {
    if (strength === 'weak') return findLongRandom(reader, valueStart);
    const isFirst = Number.isNaN(before) || before === 10 || before === 13 || before === 34 || isIndented(near);
    if (!isFirst) return findWithin(reader, key, valueStart);
  }
  const found = valueOf(reader, key, valueStart, { isColon: true, isLiteral: true });
  if (found !== undefined && !isQuoted && isObject(reader, key, found)) return undefined;
  // The secret key of AWS may be some columns behind its id.
  const isId = found !== undefined && accessKeyId.test(text.slice(found.start, found.end));
  if (isId) return withKeyPair(reader, found);
  return chosen(reader, key, found, !isQuoted);
};

/** Matches an object with its number in a header of OpenSSL. */
const object = /^OBJ_\w+,\d+L$/;
/** Whether a value is an object of OpenSSL beside the name of another one. */
const isObject = (reader: Reader, { name }: Key, { start, end }: Secret): boolean =>
  name.startsWith('OBJ_') && object.test(reader.slice(start, end + 6).split(/\s/, 1)[0] ?? '');

/** Matches the name of a secret of Kubernetes, and what kubectl did with it at the end of a line. */
const changed = /^ "[a-z\d.-]{1,80}" (?:created|configured|unchanged|patched|replaced|deleted)(?:[\r\n]|$)/;

/** Whether a line consists of the name of a secret of Kubernetes and what kubectl did with it. */
const isChanged = (reader: Reader, { name, start }: Key, index: number): boolean =>
  name === 'secret' && isLineStart(reader, start) && changed.test(reader.slice(index, index + maxChanged));

/** Matches the id of a key of AWS. */
const accessKeyId = /^A[KS]IA[A-Z\d]{16}$/;

/** Matches the key of a wireless network in the settings of OpenWrt, and the number of one. */
const network = /(?:^|\n)[ \t]*option key$/;

/** Returns the key of a wireless network. */
const networkKey = (reader: Reader, index: number): Key | undefined =>
  reader.text.endsWith('option key', index) && network.test(reader.text.slice(reader.floor(index), index))
    ? { name: 'psk', strength: 'strong', start: index - 10, isQuoted: true, isTight: false }
    : undefined;

/** Finds the value in `with password […]` and `password is […]`, unless a link follows in the notation of Markdown. */
const findInBrackets = (reader: Reader, key: Key, from: number): Secret | undefined => {
  const open = reader.matches('is ', from) ? from + 3 : from;
  if (reader.code(open) !== bracket) return undefined;
  const found = valueOf(reader, { ...key, isTight: true }, open);
  if (found !== undefined && !/pass|pwd/i.test(key.name)) {
    const value = reader.text.slice(found.start, found.end);
    return value.length >= minLong && looksRandomBase64(value) ? found : undefined;
  }
  if (found === undefined || reader.code(found.end + 1) === 40) return undefined;
  return reference.test(reader.text.slice(found.start, found.end)) ? undefined : found;
};

/** Matches references such as `[RFC4880]`. */
const reference = /^[A-Z]{2,5}-?\d{2,5}$/;

/** Whether the text before is `BY` or `by`. */
const endsWithBy = (text: string, index: number): boolean => {
  const last = codeAt(text, index - 1);
  return last === 89 || (last === 121 && codeAt(text, index - 2) === 98);
};

/** Returns the offset behind dots that lead from a name to its value. */
const afterDots = (reader: Reader, index: number): number => {
  let at = index;
  while (at < index + maxSpaces && reader.code(at) === dot) at += 1;
  return at - index < 3 ? index : reader.skipSpaces(at, maxSpaces);
};

/** Whether the text since the beginning of the line is white space. */
const isIndented = (near: string): boolean => {
  const lineFeed = near.lastIndexOf('\n');
  return lineFeed !== -1 && near.slice(lineFeed).trim() === '';
};

/** Returns the offset behind the type in `password 7 …`, `password simple …` and `DefaultPassword REG_SZ …`. */
const afterType = (reader: Reader, index: number): number => {
  const code = reader.code(index);
  if (code === 82 && reader.matches('REG_', index)) {
    const type = /^REG_[A-Z_]{2,12} /.exec(reader.slice(index, index + 20))?.[0].length ?? 0;
    return reader.skipSpaces(index + type, maxSpaces);
  }
  return typeLetters.has(code)
    ? index + (notation.exec(reader.slice(index, index + maxNotation))?.[0].length ?? 0)
    : index;
};

/** Matches how the configuration of a network device says that a value is written, and for whom it is. */
const notation =
  /^(?:(?:(?:level|unit) \d{1,2}|\d|ENC|simple|cipher|plain|clear|encrypted|irreversible-cipher|ascii(?:-text)?|hex|text|local|remote) ){1,3}(?=\S)/;
const maxNotation = 40;
const typeLetters: ReadonlySet<number> = new Set(
  Array.from('0123456789ELscpuaehitlrt', (letter) => letter.charCodeAt(0)),
);

/** Finds a random value in a sentence such as `logged in with token …`. */
const findLongRandom = (reader: Reader, start: number): Secret | undefined => {
  const end = reader.endOfRun(start, bearer, 2048);
  return end - start >= minLong && reader.isRandom(start, end) ? { kind: 'assignment', start, end } : undefined;
};

/** Finds a value that is no word within a line, as in `mysqladmin -u root password hunter2x`. */
const findWithin = (reader: Reader, key: Key, start: number): Secret | undefined => {
  const found = valueOf(reader, key, start, { isColon: true, isLiteral: true });
  if (found === undefined) return undefined;
  const secret = trimmed(reader, found);
  const value = reader.text.slice(secret.start, secret.end);
  // As in `#define initSecret initSecret_avx512`.
  if (isReference(value, key.name, { isLiteral: false })) return undefined;
  const isLed =
    /^(?:set|change)/i.test(key.name) ||
    /\b(?:and|with|using) $/.test(reader.text.slice(reader.floor(key.start), key.start));
  const isChosen =
    /pass|pwd|psk|pw/i.test(key.name) &&
    (isUnlikeWord(value) || isNoisy(value) || (isLed && isPassphrase(value) && endsLine(reader, found.end)));
  const isSecond = secondArgument.test(key.name) && /^\S+[A-Z]/.test(value) && endsLine(reader, found.end);
  return looksRandom(value) || isChosen || isSecond ? secret : undefined;
};

/** Matches what defines a variable or a macro, up to its name. */
const definedPass = /(?:^|[\n;&] ?)(?:# ?define|setx|setenv|set -[gUl]{0,3}x|ENV|ARG) PASS$/;

/** Matches a line with a user before `Pass` or `pass`. */
const belowUser = /(?:^|\n)[ \t]*(?:[Uu]ser|[Uu]sername|[Ll]ogin|[Aa]ccount)[ \t]+\S{1,64}\r?\n[ \t]*[Pp]ass$/;

/** Finds the value of a line `PASS …` after a line `USER …`. */
const findLoginLine = (reader: Reader, index: number): Secret | undefined => {
  if (
    !/(?:^|\n)[<>CS:\d -]{0,8}USER \S{1,64}\r?\n(?:[^\n]{0,80}\n)?[<>CS:\d -]{0,8}PASS$/.test(
      reader.text.slice(reader.floor(index), index),
    )
  ) {
    return undefined;
  }
  return findLoginPassword(reader, index);
};

const findLoginPassword = (reader: Reader, index: number): Secret | undefined => {
  const key: Key = { name: 'pass', strength: 'strong', start: index - 4, isQuoted: false, isTight: false };
  const isBare = quoteAt(reader, index + 1) === undefined;
  return chosen(reader, key, valueOf(reader, key, index + 1, { isColon: true, isLiteral: true }), isBare);
};

/** Finds the value of `:pass "…"`, a keyword of Lisp. */
const findKeywordValue = (reader: Reader, index: number): Secret | undefined => {
  if (quoteAt(reader, index + 1) === undefined) return undefined;
  const key: Key = { name: 'pass', strength: 'strong', start: index - 4, isQuoted: true, isTight: false };
  return valueOf(reader, key, index + 1, { isColon: true });
};

/** Finds the value of `user joe pass …`. */
const findUsersPass = (reader: Reader, index: number): Secret | undefined => {
  const near = reader.text.slice(Math.max(reader.barrier, index - 80), index);
  if (!/\b(?:user|username|login)[ =][^\s]{1,64} pass$/.test(near)) return undefined;
  const key: Key = { name: 'pass', strength: 'strong', start: index - 4, isQuoted: false, isTight: false };
  return findWithin(reader, key, reader.skipSpaces(index, 4));
};

/** Minimum length of a password in quotes that is a number. */
const minNumber = 6;

/** Returns the value unless it may be a word of a sentence. Without quotes, it must also end its line. */
const chosen = (reader: Reader, key: Key, found: Secret | undefined, isBare: boolean): Secret | undefined => {
  if (found === undefined) return undefined;
  const value = reader.text.slice(found.start, found.end);
  const isAlone = (): boolean =>
    !isBare
      ? /["']/.test(reader.text.charAt(found.start - 1)) &&
        !/[\w-]/.test(String.fromCharCode(reader.code(found.end + 1)))
      : /(?:^|\n)[ \t]*$/.test(reader.text.slice(reader.floor(key.start), key.start));
  const isPhrase =
    (isPassphrase(value) && passphraseName.test(key.name)) ||
    (/pass|pwd|psk|pw$/i.test(key.name) && isWords(value, key.name) && isAlone());
  const isNumber = !isBare && value.length >= minNumber;
  if (!isPhrase && !isMixed(value, { isQuoted: isNumber }) && !looksRandom(value)) return undefined;
  const isLong = value.length >= minLong && looksRandom(value);
  return isBare && !isLong && !endsLine(reader, found.end) ? undefined : found;
};

/** Finds the value of a statement such as `the password is hunter2`. */
const findStated = (reader: Reader, key: Key, start: number): Secret | undefined => {
  const found = valueOf(reader, key, start, { isColon: true });
  const secret = found === undefined ? undefined : trimmed(reader, found);
  return secret === undefined || secret.end - secret.start < minStated ? undefined : chosen(reader, key, secret, false);
};
const minStated = 4;

const emphasis = /\*\*[:,.]?$/;

/** Returns the value without the full stop of its sentence, and without emphasis in Markdown behind it. */
const trimmed = (reader: Reader, found: Secret): Secret => {
  const end =
    found.end - (emphasis.exec(reader.text.slice(Math.max(found.start, found.end - 3), found.end))?.[0].length ?? 0);
  const isStop = /[.!?]$/.test(reader.text.slice(end - 1, end));
  return { ...found, end: isStop && end - found.start > 6 ? end - 1 : end };
};

/** Matches a statement of SQL that creates or changes an account, up to the name of its password. */
const ofAccount =
  /\b(?:create|alter) (?:user|role|login) (?:if not exists )?\S{1,64} (?:(?:with|encrypted|=|\w{4,16}) ){0,6}$/i;

/** Finds the password in `ALTER USER joe PASSWORD '…'`, also if it is a word. */
const findAccountPassword = (reader: Reader, key: Key, valueStart: number): Secret | undefined =>
  key.name.length === 8 && ofAccount.test(reader.text.slice(reader.floor(key.start), key.start))
    ? findCertainLiteral(reader, valueStart)
    : undefined;

const findIdentifiedBy = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!identified.test(text.slice(Math.max(reader.barrier, index - 70), index))) return undefined;
  const start = reader.skipSpaces(index, 4);
  const isSentence = codeAt(text, index - 1) === 121 && quoteAt(reader, start) === undefined;
  if (isSentence && !account.test(text.slice(reader.floor(index), index))) return undefined;
  const key: Key = { name: 'password', strength: 'strong', start: index, isQuoted: false, isTight: false };
  return chosen(reader, key, valueOf(reader, key, start, { isColon: true, isLiteral: true }), false);
};
