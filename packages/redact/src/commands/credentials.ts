import { bearer, codeAt, is, userInfoStop, word } from '../text/characters.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { distinctOf, isNamedPair, isPlaceholder, looksRandom, looksRandomBase64 } from '../values/value.js';

const slash = 47;
const at = 64;
const plus = 43;
const maxUserInfo = 512;
const minToken = 20;
const maxScheme = 24;
const databases: ReadonlySet<string> = new Set(
  (
    'postgres postgresql mysql mariadb mongodb srv redis rediss amqp amqps mssql sqlserver clickhouse cockroachdb nats ' +
    'ftp sftp ftps smtp smtps ldap ldaps oracle'
  ).split(' '),
);

/** Schemes of proxies whose user is a secret. */
const proxies: ReadonlySet<string> = new Set(['vless', 'trojan', 'tuic', 'hysteria2', 'hy2', 'juicity']);
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Returns quickly whether a colon may be before a URL with an `@`. */
export const mayBeUrl = (text: string, index: number): boolean => {
  if (codeAt(text, index + 2) !== slash && index + 2 < text.length) return false;
  const start = index + 3;
  let end = start;
  while (end < start + maxUserInfo && end < text.length) {
    const code = codeAt(text, end);
    if (code === at) return true;
    if (is(code, userInfoStop)) return false;
    end += 1;
  }
  return end >= text.length;
};

/** Finds the password in `scheme://user:password@host`, or a token in place of the user. Called for the first colon. */
export const findUrlCredentials = (reader: Reader, index: number): Secret | undefined => {
  if (!is(reader.before(index), word) || reader.code(index + 1) !== slash || reader.code(index + 2) !== slash) {
    return undefined;
  }
  const start = index + 3;
  const isDatabase = databases.has(schemeBefore(reader, index));
  const end = endOfUserInfo(reader, start, isDatabase);
  if (end === undefined) return undefined;
  const userInfo = reader.text.slice(start, end);
  const cut = userInfo.indexOf(':');
  if (cut === userInfo.length - 1) {
    // With an empty password, a random user is a token.
    const user = userInfo.slice(0, cut);
    const isToken = looksRandom(user) && !isPlaceholder(user) && !user.includes(reader.replacement);
    return isToken ? { kind: 'url-credentials', start, end: end - 1 } : undefined;
  }
  if (cut === -1 && uuid.test(userInfo) && proxies.has(schemeBefore(reader, index))) {
    return { kind: 'url-credentials', start, end };
  }
  if (cut === -1 && isPublicKey(reader, userInfo, end)) return undefined;
  const value = userInfo.slice(cut + 1);
  // A token takes the place of the user if the password has no meaning.
  if (cut >= minToken && looksRandom(userInfo.slice(0, cut)) && /^(?:x-oauth-basic|x)$/.test(value)) {
    return { kind: 'url-credentials', start, end: start + cut };
  }
  // The password of an anonymous user is any text.
  if (userInfo.startsWith('anonymous:') || isNamedPair(userInfo.slice(0, Math.max(cut, 0)), value)) return undefined;
  if (value.includes(reader.replacement) || isPlaceholder(value) || (cut === -1 && !looksRandom(value))) {
    return undefined;
  }
  return { kind: 'url-credentials', start: start + cut + 1, end };
};

/** Whether the user is the public key of a project of Sentry, whose number is the path. */
const isPublicKey = (reader: Reader, user: string, end: number): boolean =>
  /^[\da-f]{32}$/.test(user) && /^@[\w.-]{3,100}(?::\d{2,5})?\/\d{1,20}(?![\w/-])/.test(reader.slice(end, end + 128));

const schemeBefore = (reader: Reader, end: number): string => {
  let start = end;
  const { text } = reader;
  const floor = Math.max(reader.barrier, end - maxScheme);
  while (start > floor && (is(codeAt(text, start - 1), word) || codeAt(text, start - 1) === plus)) start -= 1;
  // A driver may follow, as in `mysql+pymysql`.
  return text.slice(start, end).replace(/\+.*$/, '');
};

/**
 * Returns the last `@` before the end of the host. Database passwords are often not encoded and may contain a slash.
 */
const endOfUserInfo = (reader: Reader, start: number, isDatabase: boolean): number | undefined => {
  const end = reader.endOfRun(start, userInfoStop, maxUserInfo, false);
  const first = reader.next('@', start);
  if (first >= end) return undefined;
  let found: number | undefined;
  for (let index = isDatabase ? first : start; index < end; index += 1) {
    const code = codeAt(reader.text, index);
    if (code === at) found = index;
    else if (code === slash || code === 63 || code === 35) break;
  }
  if (found !== undefined || isDatabase) return found;
  const password = unencoded.exec(reader.text.slice(start, first + 1))?.[1];
  return password !== undefined && looksRandomBase64(password) ? first : undefined;
};

/** Matches a user and a password in base64 that is not encoded for the URL, but not a port and a path. */
const unencoded = /^[\w.~%-]{1,64}:(?!\d{1,5}\/)([A-Za-z\d+/=]{16,256})@$/;

const schemes = [
  { name: 'bearer', min: 16 },
  { name: 'basic', min: 8 },
] as const;
const maxGap = 4;
const maxCredential = 8192;

/** Finds the token after `Bearer` or `Basic`. Called for the first letter of the scheme. */
export const findBearer = (reader: Reader, index: number): Secret | undefined => {
  if (is(reader.before(index), word)) return undefined;
  for (const { name, min } of schemes) {
    if (!reader.matchesLetters(name, index)) continue;
    let start = index + name.length;
    while (start <= index + name.length + maxGap && (reader.code(start) === 32 || reader.code(start) === 9)) start += 1;
    if (reader.matches('%20', start)) start += 3;
    if (start === index + name.length || start > index + name.length + maxGap) return undefined;
    const end = reader.endOfRun(start, bearer, maxCredential);
    const value = reader.text.slice(start, end);
    if (value.length < min || !(name === 'basic' ? isBasic(value) : isBearer(value)) || isPlaceholder(value)) {
      return undefined;
    }
    return { kind: name, start, end };
  }
  return undefined;
};

const isBearer = (value: string): boolean =>
  looksRandom(value) || (value.length >= 20 && /\d/.test(value) && !/^[a-z]+(?:[-_.][a-z\d]+)*$/i.test(value));

/** Whether the value is base64 of `user:password`. */
const isBasic = (value: string): boolean =>
  /^[\w+/-]{6,}={0,2}$/.test(value) &&
  /^[\x20-\x7e]{0,255}:[\x20-\x7e]{1,}$/.test(Buffer.from(value, 'base64').toString('latin1'));

/** Minimum number of distinct characters of the token of a bot. */
const minBotToken = 12;

/** Finds the token of a Telegram bot: a number, a colon and 35 characters. Called for the colon. */
export const findBotToken = (reader: Reader, index: number): Secret | undefined => {
  if (!reader.matches('AA', index + 1)) return undefined;
  const number = /(?:^|[^\w]|bot)(\d{8,10})$/.exec(reader.text.slice(Math.max(reader.barrier, index - 14), index))?.[1];
  if (number === undefined) return undefined;
  const token = /^AA[\w-]{33}(?![\w-])/.exec(reader.slice(index + 1, index + 37))?.[0];
  return token === undefined || distinctOf(token) < minBotToken
    ? undefined
    : { kind: 'telegram', start: index - number.length, end: index + 36 };
};
