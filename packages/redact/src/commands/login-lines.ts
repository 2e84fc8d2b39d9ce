import { codeAt, is, kindOf, space as blank, valueStop } from '../text/characters.js';
import { isUnlike } from '../named/behind-signs.js';
import { isRandomMixed } from '../values/random-letters.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { hasBothCases } from '../likely/stated-values.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from '../values/value.js';

/** Whether the code is that of a line feed, or there is none before the text. */
const isLineStart = (code: number): boolean => code === lineFeed || Number.isNaN(code);

const lineFeed = 10;
const doubleQuote = 34;
const singleQuote = 39;
const isQuote = (code: number): boolean => code === doubleQuote || code === singleQuote;
const opening = 40;
const colon = 58;
const comma = 44;
const bracket = 93;
const brace = 125;
const star = 42;
/** The kind of digits. */
const digit = 3;
const minPassword = 8;
const maxPassword = 64;
/** Maximum length of a password beside its user. Longer ones are ids. */
const maxBeside = 18;

/** Matches the beginning of a line, or of a string in JSON. */
const lineStart = String.raw`(?:^|\n|[{[,:] ?")`;
/**
 * Matches lines up to their password that consist of a login: with an address or a proxy before the user, as in the files
 * of davfs2 and proxychains; or a user in quotes, as in that of PgBouncer.
 */
const login = new RegExp(
  [
    String.raw`(?:[\w-]{1,16}> !?connect )?[a-z][a-z\d+.:-]{1,24}:\/\/\S{1,80}[ \t]{1,8}"?[\w.@+\\-]{1,64}"?[ \t]{1,8}"?`,
    String.raw`(?:socks[45][ah]?|https?|raw)[ \t]{1,8}[\w.-]{1,64}[ \t]{1,8}\d{2,5}[ \t]{1,8}[\w.@+-]{1,64}[ \t]{1,8}`,
    String.raw`\d{1,3}(?:\.\d{1,3}){3}[ \t]{1,16}`,
    String.raw`"[\w.@+-]{1,48}" "`,
    String.raw`[\w.:/ -]{1,64}: '[\w.@+-]{1,48}' '`,
  ]
    .map((form) => `${lineStart}${form}$`)
    .join('|'),
);
/** Matches a numbered line up to its key: with a host, as Wazuh has them, or with the type of the key, as NTP has them. */
const numberedKey =
  /(?:^|\n)(?:\d{3,5} [\w.-]{1,64} (?:any|!?[\da-f.:/]{7,43})|[ \t]*\d{1,5}[ \t]+(?:M|MD5|SHA\d{0,3}|AES\w{0,12}))[ \t]+$/;
const maxNumbered = 120;
/** Whether a line that begins with a number is before an offset. */
const isBehindNumber = (text: string, start: number): boolean => {
  let from = start;
  while (from > start - maxNumbered && from > 0 && codeAt(text, from - 1) !== lineFeed) from -= 1;
  return kindOf(codeAt(text, from)) === digit && numberedKey.test(text.slice(Math.max(0, from - 1), start));
};

/** Matches an address of a user before a password, and a user that begins a line. */
const address = /(?:^|[\s"'(|])[\w.+-]{1,48}@[\w-]{1,48}(?:\.[\w-]{2,24}){1,3}(?: [|/] | ?: ?|[ \t]{1,8}|\t)$/;
const onlyName =
  /(?:^|\n)(?!(?:id|etag|cid|rev|hash|nonce|tag|ref|uid|uuid|guid|sig|sha\d*|md5|v\d|h\d)[.:])[a-z_][a-z\d._-]{1,31}:$/;
/** Matches the client and the server before a secret of pppd, of which one is any, or the addresses behind it are. */
const client = /(?:^|\n)(?:"[^"\n]{1,64}"|[\w.@-]{1,64}|\*)[ \t]{1,32}("?\*"?|"?[\w.-]{1,40}"?)[ \t]{1,32}"?$/;
const addresses = /^"?[ \t]{1,32}(\*|\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?)[ \t]*(?:\r?\n|$)/;
const lineEnd = /^["']?[ \t]*(?:\r?\n|$)|^"[,}\]]/;
/** Matches the user behind a password that john guessed. */
const guessedUser = /^[ \t]{2,24}\([\w.$@+-]{1,32}\)[ \t]*(?:\r?\n|$)/;
/** Matches a stored password of PostgreSQL. */
const signs = /[!@#$%^&*+=?~]/;
const storedPassword = /^md5[\da-f]{32}$/;

/** Returns quickly whether a password of a login may begin here: behind a blank or a quote, before the end of its line. */
export const mayBeOnLoginLine = (text: string, start: number, last: number): boolean => {
  const before = codeAt(text, start - 1);
  if (!is(before, blank) && !isQuote(before) && before !== colon && !isLineStart(before)) return false;
  if (last - start < minPassword || last - start > maxPassword) return false;
  let end = isQuote(codeAt(text, last)) ? last + 1 : last;
  while (end < last + 40 && is(codeAt(text, end), blank)) end += 1;
  const next = codeAt(text, end);
  const isLast =
    end >= text.length ||
    next === 10 ||
    next === 13 ||
    next === star ||
    (end > last && kindOf(next) === digit) ||
    (end === last + 1 && (next === comma || next === brace || next === bracket));
  const mayEnd = isLineStart(before) ? end > last + 1 && (next === opening || end >= text.length) : isLast;
  return mayEnd && (hasBothCases(text, start, last) || text.startsWith('md5', start) || isBehindNumber(text, start));
};

/** Finds the password of a line that is a login, if it is random. */
export const findOnLoginLine = (reader: Reader, start: number): Secret | undefined => {
  const { text } = reader;
  const end = reader.endOfRun(start, valueStop, maxPassword, false);
  const value = text.slice(start, end);
  if (isBehindNumber(text, start) && start > reader.barrier) {
    const isKey =
      !isPlaceholder(value) && !value.includes(reader.replacement) && lineEnd.test(reader.slice(end, end + 8));
    return isKey ? { kind: 'assignment', start, end } : undefined;
  }
  const isRandom =
    isRandomMixed(value) || looksRandom(value) || (isUnlike(value) && signs.test(value)) || storedPassword.test(value);
  if (!isRandom || isPublicIdentifier(value) || isPlaceholder(value) || value.includes(reader.replacement)) {
    return undefined;
  }
  const before = text.slice(reader.floor(start), start);
  const behind = reader.slice(end, end + 56);
  const ofClient = client.exec(before);
  const ofAddresses = ofClient === null ? null : addresses.exec(behind);
  const isOfClient = ofAddresses !== null && (ofAddresses[1] === '*' || ofClient?.[1]?.includes('*') === true);
  const isGuessed = /(?:^|\n)$/.test(before) && guessedUser.test(behind);
  const isBeside = value.length <= maxBeside && isRandomMixed(value) && lineEnd.test(behind);
  if (isBeside && (address.test(before) || onlyName.test(before))) return { kind: 'user-password', start, end };
  if (!isOfClient && !isGuessed && !(login.test(before) && lineEnd.test(behind))) return undefined;
  return { kind: 'user-password', start, end };
};
