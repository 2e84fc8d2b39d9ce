import { bearer, is, key, stop, userInfoStop, word } from './characters.js';
import { isPasswordLike } from './chosen-value.js';
import { quoteAt } from './quotes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { endsLine } from './gaps.js';
import { digest, isNamedPair, isPasswordName, isPlaceholder, looksRandom, looksRandomBase64 } from './value.js';

const letterP = 80;
const lineFeed = 10;
const slash = 47;
const colon = 58;
const at = 64;
const star = 42;
const plus = 43;
const bar = 124;
const maxUserInfo = 512;
const maxScheme = 24;
const databases: ReadonlySet<string> = new Set(
  (
    'postgres postgresql mysql mariadb mongodb srv redis rediss amqp amqps mssql sqlserver clickhouse cockroachdb nats ' +
    'ftp sftp ftps smtp smtps ldap ldaps oracle'
  ).split(' '),
);

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
  const value = userInfo.slice(cut + 1);
  // The password of an anonymous user is any text.
  if (userInfo.startsWith('anonymous:') || isNamedPair(userInfo.slice(0, Math.max(cut, 0)), value)) return undefined;
  if (value.includes(reader.replacement) || isPlaceholder(value) || (cut === -1 && !looksRandom(value))) {
    return undefined;
  }
  return { kind: 'url-credentials', start: start + cut + 1, end };
};

const schemeBefore = (reader: Reader, end: number): string => {
  let start = end;
  const { text } = reader;
  const floor = Math.max(reader.barrier, end - maxScheme);
  while (start > floor && (is(text.charCodeAt(start - 1), word) || text.charCodeAt(start - 1) === plus)) start -= 1;
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
    const code = reader.text.charCodeAt(index);
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

/** Finds the token of a Telegram bot: a number, a colon and 35 characters. Called for the colon. */
export const findBotToken = (reader: Reader, index: number): Secret | undefined => {
  if (!reader.matches('AA', index + 1)) return undefined;
  const number = /(?:^|[^\w]|bot)(\d{8,10})$/.exec(reader.text.slice(Math.max(reader.barrier, index - 14), index))?.[1];
  if (number === undefined) return undefined;
  const token = /^AA[\w-]{33}(?![\w-])/.exec(reader.slice(index + 1, index + 37))?.[0];
  return token === undefined || !looksRandom(token)
    ? undefined
    : { kind: 'telegram', start: index - number.length, end: index + 36 };
};

const maxPassword = 64;

/** Matches the user of a domain or a scheme, such as `CORP/joe` and `sip:joe`. */
const qualifiedUser = /[\w.-][/\\:]\w[\w.-]*$/;
/** Matches the hour and the minute of a date, which are no user. */
const timeOfDay = /\dT\d\d:\d\d$/;
/** Matches what is before the colon on a line that maps a host or a domain to a user: `[mail.example.org]:587 joe`, `CORP\\joe`. */
const mapped =
  /(?:^|\n)[^\n]{0,80}(?:(?:\[\+\]|SUCCESS(?:FUL)?:|Success:|credentials:) [^\n]{0,60}["']?[\w.@$-]{1,64}|(?:^|[\n\s])(?:[A-Z][\w.-]{1,31}|[a-z\d-]+(?:\.[a-z\d-]+)+)\\[\w.$-]{1,64}|(?:^|\n)(?:\*|\[?[\w-]+(?:\.[\w-]+)+\]?(?::\d{2,5})?):?[ \t]{1,8}[\w.@+-]{1,64})$/;
/** Matches the first user whose password `chpasswd` of cloud-init lists, and the next one. */
const firstListed = /\bchpasswd:\s[^#]{0,40}\n {2,16}(?:- )?[\w.-]{1,32}$/;
const nextListed = /^\r?\n {2,16}(?:- )?[\w.-]{1,32}:(\S{4,64})(?=\s|$)/;
const maxListed = 20;
/** Matches the host behind a password. */
const host = /^@(?:\d{1,3}(?:\.\d{1,3}){3}|localhost\b)/;

/**
 * Finds the password in `user:password@tcp(host)`, in `CORP/user:password@10.0.0.1`, and in
 * `echo user:password | chpasswd`. Called for the colon.
 */
export const findUserPair = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const listed = findListed(reader, index) ?? (reader.starved ? undefined : findGuessedUser(reader, index));
  if (listed !== undefined || reader.starved) return listed;
  const start = index + 1;
  let end = start;
  while (end < start + maxPassword && reader.code(end) > 32 && !pairEnds.has(reader.code(end))) end += 1;
  if (end - start < 3) return undefined;
  const isQuoted = quotes.has(reader.code(end)) && reader.code(end + 1) === at;
  const next = isQuoted ? at : reader.code(end);
  const isPair =
    next === at
      ? reader.matches('@tcp(', end) ||
        reader.matches('@unix(', end) ||
        isLogin(reader, start, end, isQuoted ? end + 1 : end)
      : (next === 32 || next === 34 || next === 39 || next === bar) &&
        /^["']? ?\| ?(?:sudo )?chpasswd/.test(reader.slice(end, end + 20)) &&
        /\becho +["']?[\w.-]+$/.test(text.slice(reader.floor(index), index));
  if (text.charCodeAt(index - 1) === letterP && text.charCodeAt(index - 2) === 59) {
    return findNetworkCode(reader, index);
  }
  const value = text.slice(start, end);
  if (next !== at && !isPair && isMapped(reader, index, value, end)) return { kind: 'user-password', start, end };
  if (!isPair || value.includes(reader.replacement) || isPlaceholder(`${value}0`)) return undefined;
  if (next === at && isPasswordName(value)) return undefined;
  if (isNamedPair(text.slice(reader.floor(index), index), value)) return undefined;
  return { kind: 'user-password', start, end };
};

/** Matches the numbers behind a password in a line of a password file. Usually, the password is elsewhere. */
const numbers = /^:\d{1,6}:\d{0,6}:/;
const maxUser = 32;

/** Whether a line begins with the name of a user that ends here. */
const isUserOfLine = (reader: Reader, end: number): boolean => {
  const { text } = reader;
  const floor = Math.max(reader.floor(end), end - maxUser);
  let start = end;
  while (start > floor && is(text.charCodeAt(start - 1), key)) start -= 1;
  const isStart = start === reader.floor(end) || text.charCodeAt(start - 1) === lineFeed;
  return isStart && /^[a-z_][\w.-]*$/.test(text.slice(start, end));
};

/** Finds the password in a line `joe:…:1000:1000::/home/joe` of tools that guess passwords. */
const findGuessedUser = (reader: Reader, index: number): Secret | undefined => {
  if (!isUserOfLine(reader, index)) return undefined;
  const start = index + 1;
  let end = start;
  while (end < start + maxPassword && reader.code(end) > 32 && reader.code(end) !== colon) end += 1;
  if (end - start < 4 || reader.code(end) !== colon || !numbers.test(reader.slice(end, end + 15))) return undefined;
  const value = reader.text.slice(start, end);
  return value.includes(reader.replacement) ? undefined : { kind: 'user-password', start, end };
};

/** Finds the password in `WIFI:T:WPA;S:home;P:…;;`, the text of a code that is scanned. */
const findNetworkCode = (reader: Reader, index: number): Secret | undefined => {
  if (!/\bWIFI:[^\n]{0,100};P$/.test(reader.text.slice(reader.floor(index), index))) return undefined;
  const value = /^[^;\s]{8,63}(?=;)/.exec(reader.slice(index + 1, index + 66))?.[0] ?? '';
  if (value === '' || isPlaceholder(value) || value.includes(reader.replacement)) return undefined;
  return { kind: 'user-password', start: index + 1, end: index + 1 + value.length };
};

/** Whether a user that stands for an account is before a password, which ends its line or has a remark behind. */
const isMapped = (reader: Reader, index: number, value: string, end: number): boolean => {
  if (!(endsLine(reader, end) || reader.matches(' (', end)) || value.includes(reader.replacement)) return false;
  if (!isPasswordLike(value) || isPlaceholder(value)) return false;
  const before = reader.text.slice(reader.floor(index), index + 1);
  return !digest.test(before) && mapped.test(before.slice(0, -1));
};

/** Whether the name that ends here has two spaces or a hyphen and a space before it. */
const isIndentedName = ({ text, barrier }: Reader, end: number): boolean => {
  let start = end;
  while (start > barrier && end - start < 32 && is(text.charCodeAt(start - 1), key)) start -= 1;
  const before = text.charCodeAt(start - 2);
  return text.charCodeAt(start - 1) === 32 && (before === 32 || before === 45);
};

/** Finds the passwords in a list of users below `chpasswd:`. */
const findListed = (reader: Reader, index: number): Secret | undefined => {
  if (reader.hasAhead || !isIndentedName(reader, index)) return undefined;
  if (!firstListed.test(reader.text.slice(reader.floor(index), index))) return undefined;
  const first = /^:\S{4,64}(?=\s|$)/.exec(reader.slice(index, index + 66))?.[0].length;
  if (first === undefined) return undefined;
  const found: Secret[] = [];
  for (let [start, end] = [index + 1, index + first]; found.length < maxListed;) {
    const value = reader.text.slice(start, end);
    const isHidden = isPlaceholder(`${value}0`) || value.includes(reader.replacement);
    if (!isHidden) found.push({ kind: 'user-password', start, end });
    const next = nextListed.exec(reader.slice(end, end + 128));
    if (next === null) break;
    end += next[0].length;
    start = end - (next[1] ?? '').length;
  }
  return found[0] === undefined ? undefined : { ...found[0], more: found };
};

/** Whether a user and a password are before a host. */
const isLogin = (reader: Reader, start: number, end: number, sign: number): boolean => {
  const value = reader.text.slice(start, end);
  if (!isPasswordLike(value)) return false;
  const user = reader.text.slice(reader.floor(start - 1), start - 1);
  if (timeOfDay.test(user)) return false;
  return host.test(reader.slice(sign, sign + 20)) || (qualifiedUser.test(user) && !user.includes('@'));
};

/** Matches a user before a slash, as people state logins. */
const statedUser =
  /(?<![\p{L}\d])(?:creds?|credentials|log-?in|user(?:name)?|account|zugangsdaten|zugang|anmeldedaten|identifiants|credenciales|credenciais|credenziali|inloggegevens|логин|учетные данные|账号|アカウント|계정)(?![\p{L}\d])[^\n:=]{0,40}(?:[:=] ?|\b(?:with|as|are|is) )[`"']?[\w.@-]{1,64}[`"']? $/iu;

/** Finds the password in `login: joe / …`. Called for the slash. */
export const findSlashPair = (reader: Reader, index: number): Secret | undefined => {
  if (reader.code(index + 1) !== 32 || !statedUser.test(reader.text.slice(reader.floor(index), index))) {
    return undefined;
  }
  const start = index + (quoteAt(reader, index + 2) === undefined ? 2 : 3);
  const end = reader.endOfRun(start, stop, maxPassword, false);
  const value = reader.text.slice(start, end);
  return isPasswordLike(value) && !value.includes(reader.replacement)
    ? { kind: 'user-password', start, end }
    : undefined;
};

const quotes: ReadonlySet<number> = new Set([34, 39]);
/** Ends the password of a pair: quotes, `(`, `@`, a backslash, and a colon, so that each character is read once. */
const pairEnds: ReadonlySet<number> = new Set(Array.from('"\'(@\\:', (character) => character.charCodeAt(0)));

const passwordFile =
  /^(?:\*|localhost|[\w-]+(?:\.[\w-]+)+):(?:\*|\d{4,5}):(?:\*|[\w-]*[A-Za-z_][\w-]*):(?:\*|[\w-]*[A-Za-z_][\w.@-]*)$/;

const shortHost = /^[a-z][a-z\d-]*:\d{4,5}:[\w-]*[A-Za-z_][\w-]*:[\w-]*[A-Za-z_][\w-]*$/;

/** Finds the password in a line `host:port:database:user:password`. Called for a colon. */
export const findPasswordFileEntry = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const floor = reader.floor(index);
  let start = index;
  let colons = 0;
  let digits = 0;
  while (start > floor) {
    const code = text.charCodeAt(start - 1);
    if (code === 58) {
      colons += 1;
      if (colons > 3) return undefined;
      // The second field is the port.
      if (colons === 3 && digits < 4 && text.charCodeAt(start) !== 42) return undefined;
      digits = 0;
    } else if (code <= 32 || is(code, stop)) break;
    else if (!is(code, key) && code !== at && code !== star) return undefined;
    digits = code >= 48 && code <= 57 ? digits + 1 : 0;
    start -= 1;
  }
  if (colons !== 3) return undefined;
  const entry = text.slice(start, index);
  const end = reader.endOfRun(index + 1, stop, 128, false);
  const value = reader.text.slice(index + 1, end);
  // A host without a domain may be a file, and its port a line.
  const isEntry = passwordFile.test(entry) || (shortHost.test(entry) && isPasswordLike(value));
  if (!isEntry) return undefined;
  if (value.length < 3 || value.includes(':') || value.includes(reader.replacement) || isPlaceholder(`${value}0`)) {
    return undefined;
  }
  return { kind: 'password-file', start: index + 1, end };
};
