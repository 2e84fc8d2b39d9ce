import { codeAt, is, key, kindOf, space as blank, stop, word } from '../text/characters.js';
import { isPasswordLike } from '../values/chosen-value.js';
import { endsLine } from '../text/gaps.js';
import { quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { isRandomMixed } from '../values/random-letters.js';
import {
  digest,
  isHash,
  isNamedPair,
  isPasswordName,
  isPlaceholder,
  looksRandom,
  isPublicIdentifier,
} from '../values/value.js';

const backslash = 92;
const closingBracket = 93;
const letterL = 108;
const letterP = 80;
/** The kind of digits. */
const digit = 3;
const tab = 9;
const lineFeed = 10;
const space = 32;
const colon = 58;
const comma = 44;
const at = 64;
const star = 42;
const plus = 43;
const bar = 124;
/** Minimum and maximum length of a password. */
const minPassword = 3;
const maxPassword = 64;
const minField = 4;
/** Maximum number of characters before a user in which its host is searched. */
const maxLook = 160;

/** Matches the user of a domain or a scheme, such as `CORP/joe` and `sip:joe`. */
const qualifiedUser = /[\w.-][/\\:]\w[\w.-]*$/;
/** Matches schemes with an address of a user behind them. */
const scheme = /(?:mailto|acct|xmpp|sips?)$/i;
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

/** Whether a field of a password file may end with this code. */
const isFieldEnd = (code: number): boolean => is(code, word) || code === star;

/** Returns the end of a field of a password file. */
const endOfField = (text: string, start: number): number => {
  let end = start;
  while (end < start + maxPassword && codeAt(text, end) > space && codeAt(text, end) !== colon) end += 1;
  return end;
};

/** Returns the end of the password behind a colon. */
const endOfPassword = (text: string, start: number): number => {
  let end = start;
  while (end < start + maxPassword && codeAt(text, end) > space && !pairEnds.has(codeAt(text, end))) end += 1;
  return end;
};

/** Whether what states a login is before a space: `[+] `, `SUCCESS: `, `Success: `, `credentials: `. */
const isStatement = (text: string, end: number): boolean => {
  const before = codeAt(text, end - 2);
  return codeAt(text, end - 1) === closingBracket
    ? before === plus
    : codeAt(text, end - 1) === colon && (before | 32) >= letterL;
};

/** Whether a host, a domain or a statement may be before the user that ends here, on its line. */
const isBehindHost = (text: string, index: number): boolean => {
  let start = index;
  while (index - start < maxPassword && isOfUser(codeAt(text, start - 1))) start -= 1;
  const before = codeAt(text, start - 1);
  if (before === backslash || before === space || before === tab) return true;
  const near = text.slice(Math.max(0, index - maxLook), start);
  const line = near.lastIndexOf('\n') + 1;
  for (let blank = near.lastIndexOf(' '); blank > line; blank = near.lastIndexOf(' ', blank - 1)) {
    if (isStatement(near, blank)) return true;
  }
  return false;
};

const isOfUser = (code: number): boolean => is(code, key) || code === at || code === plus;

/** What may be behind a password and blanks: the end of the line or of a string, or a remark. */
const followers: ReadonlySet<number> = new Set(Array.from('\n\r\\"\'(', (character) => character.charCodeAt(0)));

/** Whether a password that ends here may be piped, or the last one of a line that begins with a host or a statement. */
const isLast = (text: string, index: number, end: number): boolean => {
  let behind = end;
  while (behind < end + 4 && is(codeAt(text, behind), blank)) behind += 1;
  const follower = codeAt(text, behind);
  if (behind + 1 >= text.length || follower === bar) return true;
  if (!followers.has(follower)) return false;
  if (end === behind && isQuotedWhole(text, index, end, codeAt(text, end + 1)) !== false) return true;
  return isPiped(text, behind + 1) || isBehindHost(text, index);
};

/** Matches an argument in quotes, up to the colon behind its user. Kinds of ids have colons behind them, too. */
const quotedUser =
  /(?:^|[\s=]|((?:btoa|\.from|encode\w{0,12}|basic\w{0,8}|\[\]byte)\(b?))(["'])(?!(?:id|etag|cid|rev|hash|nonce|tag|ref|uid|uuid|guid|sig|sha\d*|md5|session|trace|[vh]\d)$)[A-Za-z][\w.@-]{1,48}$/;
const maxQuotedUser = 68;
/** What may be behind an argument of a function: a bracket, a comma, or the dot of a method. */
const behindArgument: ReadonlySet<number> = new Set([41, comma, 46]);

/** Whether a user and a password that ends here are all of an argument in quotes, or of one that a function encodes. */
const isQuotedWhole = (text: string, index: number, end: number, next: number): 'encoded' | boolean => {
  const isEnd = Number.isNaN(next) || next <= doubleQuote || next === backslash || behindArgument.has(next);
  if (!isEnd || !quotes.has(codeAt(text, end))) return false;
  const [, encoder, quote] = quotedUser.exec(text.slice(Math.max(0, index - maxQuotedUser), index)) ?? [];
  if (quote !== text.charAt(end)) return false;
  if (encoder !== undefined) return 'encoded';
  return !behindArgument.has(next);
};

/** Whether a pipe is behind the closing quote of an argument. */
const isPiped = (text: string, behind: number): boolean =>
  codeAt(text, behind) === bar || (codeAt(text, behind) === space && codeAt(text, behind + 1) === bar);

/** Returns quickly whether a colon may be between a user and a password. */
export const mayBePair = (text: string, index: number): boolean => {
  if (!isFieldEnd(codeAt(text, index - 1))) return false;
  const start = index + 1;
  const field = endOfField(text, start);
  if (field + 1 >= text.length || codeAt(text, index - 1) === letterP) return true;
  const isField = field - start >= minField && codeAt(text, field) === colon;
  if (isField && kindOf(codeAt(text, field + 1)) === digit) return true;
  if (mayBeEntry(text, index) || isIndentedName(text, index)) return true;
  const from = quotes.has(codeAt(text, start)) ? start + 1 : start;
  const end = endOfPassword(text, from);
  if (end - from < minPassword) return false;
  if (codeAt(text, end) === at || codeAt(text, end + 1) === at) return true;
  return isLast(text, index, end);
};

/**
 * Finds the password in `user:password@tcp(host)` and `user:password@(host)`, in `CORP/user:password@10.0.0.1`, and in
 * `echo user:password | chpasswd`. Called for the colon.
 */
export const findUserPair = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const listed = findListed(reader, index) ?? (reader.starved ? undefined : findGuessedUser(reader, index));
  if (listed !== undefined || reader.starved) return listed;
  // The password may be in quotes, as in `user:'…'@host`.
  const opening = reader.code(index + 1);
  const start = quotes.has(opening) ? index + 2 : index + 1;
  const end = endOfPassword(text, start);
  const after = reader.code(end);
  if (end - start < minPassword || (start > index + 1 && (after !== opening || reader.code(end + 1) !== at))) {
    return undefined;
  }
  const isQuoted = quotes.has(after) && reader.code(end + 1) === at;
  const next = isQuoted ? at : after;
  const isPair =
    next === at
      ? reader.matches('@tcp(', end) ||
        reader.matches('@(', end) ||
        reader.matches('@unix(', end) ||
        isLogin(reader, start, end, isQuoted ? end + 1 : end)
      : (next === 32 || next === 34 || next === 39 || next === bar) &&
        /^["']? ?\| ?(?:sudo )?chpasswd/.test(reader.slice(end, end + 20)) &&
        /\becho +["']?[\w.-]+$/.test(text.slice(reader.floor(index), index));
  if (codeAt(text, index - 1) === letterP && codeAt(text, index - 2) === 59) {
    return findNetworkCode(reader, index);
  }
  if (codeAt(text, index - 1) === letterP && quotes.has(codeAt(text, index - 2))) {
    return findMailPassword(reader, index);
  }
  const value = text.slice(start, end);
  if (next !== at && !isPair && isMapped(reader, index, value, end)) return { kind: 'user-password', start, end };
  const whole = start === index + 1 && isQuotedWhole(text, index, end, reader.code(end + 1));
  const isBare = whole === 'encoded' ? isPasswordLike(value) : value.length <= maxArgument && isRandomMixed(value);
  if (whole !== false && isBare && !isPlaceholder(value)) return { kind: 'user-password', start, end };
  if (!isPair || value.includes(reader.replacement) || isPlaceholder(`${value}0`)) return undefined;
  if (next === at && isPasswordName(value)) return undefined;
  if (isNamedPair(text.slice(reader.floor(index), index), value)) return undefined;
  return { kind: 'user-password', start, end };
};

/** Matches the numbers behind a password in a line of a password file. Usually, the password is elsewhere. */
const numbers = /^:\d{1,6}:\d{0,6}:/;
const maxUser = 32;
/** Maximum length of a password in an argument with its user. Longer ones are ids. */
const maxArgument = 18;
/** Matches the level of a user behind its password, at the end of a line. */
const level = /^:\d{1,3}[ \t]*(?:\r?\n|$)/;
const minRandom = 10;

/** Whether a line begins with the name of a user that ends here. */
const isUserOfLine = (reader: Reader, end: number): boolean => {
  const { text } = reader;
  const floor = Math.max(reader.floor(end), end - maxUser);
  let start = end;
  while (start > floor && is(codeAt(text, start - 1), key)) start -= 1;
  const isStart = start === reader.floor(end) || codeAt(text, start - 1) === lineFeed;
  return isStart && /^[a-z_][\w.-]*$/.test(text.slice(start, end));
};

/** Finds the password in a line `joe:…:1000:1000::/home/joe` of tools that guess passwords. */
const findGuessedUser = (reader: Reader, index: number): Secret | undefined => {
  if (!isUserOfLine(reader, index)) return undefined;
  const start = index + 1;
  const end = endOfField(reader.text, start);
  const isField = reader.code(end) === colon && end - start >= minField;
  const isLevel = isField && level.test(reader.slice(end, end + 8));
  if (isLevel) {
    const secret = reader.text.slice(start, end);
    const isRandom = secret.length >= minRandom && (isHash(secret) || looksRandom(secret) || isRandomMixed(secret));
    return isRandom ? { kind: 'user-password', start, end } : undefined;
  }
  if (!isField || !numbers.test(reader.slice(end, end + 15))) return undefined;
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

/** Finds the password in `AuthInfo:host "U:joe" "P:…"` of sendmail. */
const findMailPassword = (reader: Reader, index: number): Secret | undefined => {
  if (!/\bAuthInfo:[^\n]{1,140}["']P$/.test(reader.text.slice(reader.floor(index), index))) return undefined;
  const value = /^[^"'\s\\]{4,64}(?=\\*["'])/.exec(reader.slice(index + 1, index + 66))?.[0] ?? '';
  if (value === '' || isPlaceholder(`${value}0`) || value.includes(reader.replacement)) return undefined;
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
const isIndentedName = (text: string, end: number): boolean => {
  let start = end;
  while (end - start < 32 && is(codeAt(text, start - 1), key)) start -= 1;
  const before = codeAt(text, start - 2);
  return codeAt(text, start - 1) === 32 && (before === 32 || before === 45);
};

/** Finds the passwords in a list of users below `chpasswd:`. */
const findListed = (reader: Reader, index: number): Secret | undefined => {
  if (reader.hasAhead || !isIndentedName(reader.text, index)) return undefined;
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

/** Matches a user behind a blank, and the domain behind a random password. */
const onlyUserName = /(?:^|[\s"'=])[\w+-]{1,32}$/;
const domain = /^@[\w-]{1,32}(?:\.[\w-]{2,24}){1,3}(?![\w.-])/;

/** Whether a user and a password are before a host. */
const isLogin = (reader: Reader, start: number, end: number, sign: number): boolean => {
  const value = reader.text.slice(start, end);
  if (!isPasswordLike(value)) return false;
  const user = reader.text.slice(reader.floor(start - 1), start - 1).replace(/:$/, '');
  if (timeOfDay.test(user) || scheme.test(user) || isPublicIdentifier(value)) return false;
  if (isRandomMixed(value) && onlyUserName.test(user) && domain.test(reader.slice(sign, sign + 64))) return true;
  return host.test(reader.slice(sign, sign + 20)) || (qualifiedUser.test(user) && !user.includes('@'));
};

/** Matches a user before a slash, as people state logins. */
const statedUser =
  /(?<![\p{L}\d])(?:basic auth|creds?|credentials|log-?in|user(?:name)?|account|wi-?fi|wlan|ssid|zugangsdaten|zugang|anmeldedaten|identifiants|credenciales|credenciais|credenziali|inloggegevens|логин|учетные данные|账号|アカウント|계정)(?![\p{L}\d])[^\n:=]{0,40}(?:[:=] ?|(?<=(?:basic auth|creds?|credentials|log-?in) ?)\(|\b(?:with|as|are|is) )[`"']?[\w.@-]{1,64}[`"']? $/iu;

/** Matches a user that begins a line. */
const onlyUser = /(?:(?:^|\n)[ \t]{0,8}(?:[-*•] )?|[,:] |\bis )[a-z][\w.@+-]{1,40} $/;

/** Finds the password in `login: joe / …`. Called for the slash. */
export const findSlashPair = (reader: Reader, index: number): Secret | undefined => {
  if (reader.code(index + 1) !== 32) return undefined;
  const before = reader.text.slice(reader.floor(index), index);
  const isStated = statedUser.test(before);
  if (!isStated && !onlyUser.test(before)) return undefined;
  const start = index + (quoteAt(reader, index + 2) === undefined ? 2 : 3);
  const end = reader.endOfRun(start, stop, maxPassword, false);
  const value = reader.text.slice(start, end);
  const isSecret = isStated ? isPasswordLike(value) : isRandomMixed(value) && endsLine(reader, end);
  return isSecret && !value.includes(reader.replacement) ? { kind: 'user-password', start, end } : undefined;
};

const doubleQuote = 34;
const quotes: ReadonlySet<number> = new Set([doubleQuote, 39]);
/** Ends the password of a pair: quotes, `(`, `@`, a backslash, and a colon, so that each character is read once. */
const pairEnds: ReadonlySet<number> = new Set(Array.from('"\'(@\\:', (character) => character.charCodeAt(0)));

const passwordFile =
  /^(?:\*|localhost|[\w-]+(?:\.[\w-]+)+):(?:\*|\d{4,5}):(?:\*|[\w-]*[A-Za-z_][\w-]*):(?:\*|[\w-]*[A-Za-z_][\w.@-]*)$/;

const shortHost = /^[a-z][a-z\d-]*:\d{4,5}:[\w-]*[A-Za-z_][\w-]*:[\w-]*[A-Za-z_][\w-]*$/;

/** Returns quickly whether a host, a port and a database may be before the user that ends here. */
const mayBeEntry = (text: string, index: number): boolean => {
  let colons = 0;
  let digits = 0;
  for (let start = index; start > 0; start -= 1) {
    const code = codeAt(text, start - 1);
    if (code === colon) {
      colons += 1;
      // The second field is the port.
      if (colons === 3) return digits >= 4 || codeAt(text, start) === star;
      digits = 0;
    } else if (!is(code, key) && code !== at && code !== star) return false;
    digits = kindOf(code) === digit ? digits + 1 : 0;
  }
  return false;
};

/** Finds the password in a line `host:port:database:user:password`. Called for a colon. */
export const findPasswordFileEntry = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!mayBeEntry(text, index)) return undefined;
  const floor = reader.floor(index);
  let start = index;
  let colons = 0;
  while (start > floor) {
    const code = codeAt(text, start - 1);
    if (code === colon) {
      colons += 1;
      if (colons > 3) return undefined;
    } else if (code <= space || is(code, stop)) break;
    else if (!is(code, key) && code !== at && code !== star) return undefined;
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
