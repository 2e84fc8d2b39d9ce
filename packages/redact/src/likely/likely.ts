import { endBehindSigns, mayBeBehindSigns, minMentioned } from '../named/behind-signs.js';
import { isNounName } from '../values/chosen-value.js';
import { codeAt, is, kindOf, likelyStop } from '../text/characters.js';
import { endsLine } from '../text/gaps.js';
import { isBreak, isLikely, isPromising, maxLength, scoreOfValue } from './likely-score.js';
import { findOnLoginLine, mayBeOnLoginLine } from '../commands/login-lines.js';
import { findMentioned, mayBeMentioned } from './mentioned-values.js';
import { isBehindForeign, isForeignNamed } from './nearby.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { findStatedValue, hasBothCases, mayBeStated } from './stated-values.js';
import { digest, isHash, isPlaceholder, looksRandom } from '../values/value.js';

/** Minimum length of the values that are scored. */
const minLength = 8;
/** Length of a value that is a whole line of a certificate or another text in base64. */
const minLine = 40;

/**
 * Matches text beyond ASCII, paths, addresses, versions, commits, dates, UUIDs, variables, measures, keys of minisign, ids of
 * keys of OpenPGP and Google and of content in IPFS, ULIDs, abbreviated values, and names in code.
 */
const common =
  /[^!-~]|\.{3}$|^[0-7][\dA-HJKMNP-TV-Z]{25}$|-g[\da-f]{7,}$|#[\da-f]{7,40}$|_Z[A-Z][a-z]*\d|^_Z(?:\d+[A-Za-z_]|[A-Za-z]{2,12}\d+[a-z_])|^[\da-f]+\/[\w./-]+#L\d+(?:-L?\d+)?$|^NODE_SEA_FUSE_[\da-f]{32}$|^\d{3,5}x\d{3,5}(?:@\d+(?:Hz)?)?$|^(?=.*[A-Z][a-z]{3})[A-Z][A-Za-z]{0,3}\d{1,2}(?:(?:alpha|beta)\d)?(?:[A-Z]+[a-z]+)+$|^Qm[1-9A-HJ-NP-Za-km-z]{44}$|^RW[Q-T][\w+/]{53}$|^[A-Z]{2}[\da-f]{32}$|^1-[\da-f]{8}-[\da-f]{24}$|^GOOG[\dA-Z]+$|^[.~@-]|^\/|\/.*\/|^[\w.+-]+@[\w-]+\.|^v?\d+\.\d|^\d{1,4}\+\d+\+[a-z]+\d+[a-z]?\d*$|^\d+(?:[-/.T]\d+)+|^[a-z]+\d*(?:[._/-][a-z]+\d*)+$|^[A-Z\d]+(?:_[A-Z\d]+)+$|^[A-Za-z]+\d*(?:_[A-Za-z]+\d*){3,}$|^\w+_(?:st|t)$|\.[a-z]{2,4}\d?$|^0x|^(?:[\dA-F]{16}|[\dA-F]{40})$|^[\da-z]{6,8}(?:-[\da-z]{4}){3}-|(?:^|\W)[\dA-F]{8}-[\dA-F]{4}-|^\d+(?:px|ms|[kKMG]B|bytes|bit|th)$|^[A-Za-z]+\d$|(?:[Uu]?[Ii]nt|[Ff]loat|[Bb]ase|[Uu]tf|UTF|[Ss]ha|SHA|[Mm]d|MD)\d{1,3}(?:[A-Z][a-z]+)*$/;
/** Matches an id with a short prefix, such as those of payments and requests, and not the prefix of a secret. */
const prefixedId = /^(?!(?:api|auth|cred|key|lic|pass|pat|pk|pw|rk|sec|sk|tok|whsec)_)[a-z]{2,5}_[A-Za-z\d]{14,28}$/;
/** Matches words and signs that a secret may follow. */
const ofSecret =
  /admin|api|auth|bearer|cookie|cred|key|licen[sc]e|login|pass|pwd|pw\b|root|secret|session|token|user|[=/→]\s?$/i;
const maxBefore = 40;

/** Whether a value is an id with a short prefix, and no word before it says that it may be secret. */
const isPrefixedId = (reader: Reader, start: number, value: string): boolean =>
  prefixedId.test(value) && !ofSecret.test(reader.text.slice(Math.max(0, start - maxBefore), start));

/** Matches a variable or a format. */
const variable = /[$%{}]/;
/** Matches the start of the most frequent of these values, UUIDs. */
const uuid = /^[\da-z]{8}(?:-[\da-z]{4}){3}-|^[\dA-F]{8}-[\dA-F]{4}-/;
const maxStart = 24;
const hyphen = 45;
const equals = 61;
const doubleQuote = 34;
const lineFeed = 10;
/** Matches examples, and descriptions of secrets. */
const sample = /example|token|secret|passw|(.)\1{4}/i;
/**
 * Matches the name of a value that is public by its purpose: a digest, a position in a list, a proof of a domain, a
 * request or another id, a badge, and an encrypted value of Pulumi or Travis.
 */
const publicName =
  /(?:thumbprint|fingerprint|x5t(?:#S256)?|hash|digest|checksum|cursor|site-?key|publishable|(?:site|domain)-verification|(?:continuation|page|next)-?token|(?:next|previous) page token|["'][xyn]|(?:partition|sort|foreign|public)[ _-]?(?:key|token)|(?:\b|\\n)peer|(?:sha|md)-?\d{1,3}|cf-ray|\bserial(?:[- ]?(?:number|no))?|message-(?:state|id)|trace(?:parent|state)|(?:^|[\s"'{,;&?])(?:rid|(?:request|trace|span|correlation)[-_ ]?id)|(?:cache|restore)[- ]?keys?|[?&;][a-z]{1,2}clid|credential[ _-]?id|(?:^|[;\s])bh?|(?:^|[\s"'{])secure|badge\.svg\?token|(?:checksum|digest)\/[\w.-]{1,32})["']?\s{0,2}[:=]?\s{0,2}["']?$/i;
/** Matches names that end with a hash, as those of cached files and layers. */
const namedHash = /[a-z](?:[a-z]\d?|\d{1,3})[-:@/.](?:[\da-f]{32}|[\da-f]{40}|[\da-f]{64})$/;
/** Whether the code is `.`, `?` or `*`, which may follow a value. */
const isTrailing = (code: number): boolean => code === 46 || code === 63 || code === 42;
/** Opening brackets, before which a value is the name of a function or part of a longer one. */
const brackets: ReadonlySet<number> = new Set([40, 91, 123]);

const isCommon = (run: string, value: string): boolean => common.test(run) || common.test(value) || isNounName(value);

/** Matches the beginning of a line, also in a string of JSON, and its number. */
const lineStart =
  /(?:^|\n|\\[nr]|[[,:] ?")[ \t]*(?:\d{1,6}(?:\t|→|[:│] ?|  ?)|[\w.]{1,24}-\d{1,3} {1,4}\| |(?:> ?){1,3}|\+)?$/;
/** Matches a path at the beginning of a line. */
const behindPath = /(?:^|\n|\\[nr]|")[ \t]*\/(?:[\w.+-]+\/)+[\w.+-]+[ \t]+$/;
/** Matches what is behind the last line of armored data: its checksum and its end. */
const beforeEnd = /^\r?\n(?:=[\w+/]{4}\r?\n)?-----END /;

/** Whether the value is as long as keys in base64, which may look like paths. */
const isKey = (value: string): boolean => value.length >= minLine && looksRandom(value);

/** Whether the value is text with spaces in base64. */
const isEncodedText = (value: string): boolean =>
  /^[A-Za-z\d+/]+$/.test(value) && /^[!-~]+ [ -~\n]+$/.test(Buffer.from(value, 'base64').toString('latin1'));

/** Matches an id and a key with a colon between them. */
const idAndKey = /^([\w-]{12,64}):([\w-]{16,128})$/;
const minPair = 40;

/** Whether the value may be zero and the letter of a user in base64. */
const mayBeEncodedLogin = (text: string, start: number): boolean =>
  codeAt(text, start) === letterA && codeAt(text, start + 1) > letterA + 1 && codeAt(text, start + 1) < letterA + 8;
const letterA = 65;

/** Whether the value is a login of SASL in base64: a user and a password. */
const isEncodedLogin = (value: string): boolean =>
  value.length >= minLogin &&
  value.length <= maxLength &&
  mayBeEncodedLogin(value, 0) &&
  /^[A-Za-z\d+/]+$/.test(value) &&
  /^\0[ -~]{1,64}\0[ -~]{4,64}$/.test(Buffer.from(value, 'base64').toString('latin1'));
const minLogin = 12;

/** Whether the value is an id and a key in base64, as Elasticsearch prints them. */
const isEncodedPair = (value: string): boolean => {
  if (value.length < minPair || !/^[A-Za-z\d+/]+$/.test(value)) return false;
  const [, id = '', secret = ''] = idAndKey.exec(Buffer.from(value, 'base64').toString('latin1')) ?? [];
  return looksRandom(id) && looksRandom(secret);
};

/** Ends a value. */
const stop = 8;
/** The marks of letters are 1 and those of digits 2, so their sum is 3 where they meet. */
const marksOf = [0, 1, 1, 2];
const marks = Uint8Array.from({ length: 128 }, (_, code) =>
  is(code, likelyStop) ? stop : (marksOf[kindOf(code)] ?? 0),
);
const markAt = (text: string, index: number): number => marks[codeAt(text, index)] ?? stop;
const meet = 3;
const backslash = 92;

/** Whether a letter is that of an escaped line feed, return or tab. */
const isEscaped = (text: string, index: number): boolean => {
  const code = codeAt(text, index);
  return (code === 110 || code === 114 || code === 116) && codeAt(text, index - 1) === backslash;
};

/** Returns the start of the value whose first letter and digit meet at the offset. */
const startOfValue = (text: string, index: number): number | undefined => {
  let mark = markAt(text, index - 1);
  if (mark + markAt(text, index) !== meet) return undefined;
  for (let start = index - 1; index - start < maxLength; start -= 1) {
    const before = start === 0 ? stop : markAt(text, start - 1);
    if (before === stop) {
      if (!isEscaped(text, start)) return start;
      return start + 1 < index ? start + 1 : undefined;
    }
    if (before + mark === meet) return isEscaped(text, start - 1) ? start : undefined;
    mark = before;
  }
  return undefined;
};

/** Returns the end of the run of characters with a value, or an offset too far away. */
const endOfRun = (text: string, start: number, index: number): number => {
  let end = index + 1;
  while (end - start <= maxLength && markAt(text, end) !== stop) end += 1;
  return end;
};

/** Returns the end of a value without the signs behind a sentence. */
const endOfValue = (text: string, start: number, last: number): number => {
  let end = last;
  while (end > start && isTrailing(codeAt(text, end - 1))) end -= 1;
  return end;
};

/** Returns quickly whether the value around the offset may be a secret, which its score alone excludes for most. */
export const mayBeLikely = (text: string, index: number): boolean => {
  const start = startOfValue(text, index);
  if (start === undefined) return false;
  const last = endOfRun(text, start, index);
  // The value may continue in the next chunk.
  if (last >= text.length || isBehindForeign(text, start)) return true;
  if (codeAt(text, start + 8) === hyphen && uuid.test(text.slice(start, start + maxStart))) return false;
  const end = endOfValue(text, start, last);
  if (end - start < minLength) return false;
  if (last - start > maxLength) return mayBeBehindSigns(text, start);
  return (
    isPromising(scoreOfValue(text, start, end)) ||
    mayBeEncodedLogin(text, start) ||
    mayBeBehindSigns(text, start) ||
    (end - start >= minMentioned && hasBothCases(text, start, end)) ||
    mayBeOnLoginLine(text, start, last) ||
    mayBeMentioned(text, start, end) ||
    mayBeStated(text, start, last, index)
  );
};

/** Whether a value is all of its line and no line before says what it is: ids are printed like this, too. */
const isLoneId = (reader: Reader, start: number, last: number): boolean => {
  const before = reader.before(start);
  if (!(before === lineFeed || Number.isNaN(before)) || !isBreak(reader.code(last))) return false;
  if (!/^[\w-]+$/.test(reader.text.slice(start, last))) return false;
  return reader.text
    .slice(reader.floor(start), start)
    .split('\n')
    .every((line) => line === '' || (/^\S+$/.test(line) && looksRandom(line)));
};

/** Returns the end of the signs that complete base64. */
const endOfPadding = (reader: Reader, last: number): number => {
  let end = last;
  while (end < last + 2 && reader.code(end) === equals) end += 1;
  return end;
};

/** Whether the characters of a value and its place score like those of a secret. */
const hasLikelyScore = (reader: Reader, start: number, end: number, last: number): boolean => {
  if (last - start > maxLength) return false;
  const score = scoreOfValue(reader.text, start, end);
  if (!isPromising(score)) return false;
  const isOpened = codeAt(reader.text, start - 1) === doubleQuote;
  const next = reader.code(end);
  const after = next === doubleQuote && !isOpened && endsLine(reader, end) ? lineFeed : next;
  return isLikely(score, reader, reader.floor(start), start, after);
};

/**
 * Finds a value that looks like a secret, by its characters and its place: a linear model adds the weights of what both
 * have in common with secrets and with other values. It finds secrets in notations that no other detector reads.
 * Called where a letter and a digit meet.
 */
export const findLikely = (reader: Reader, index: number): Secret | undefined => {
  const { text, barrier } = reader;
  const start = startOfValue(text, index);
  if (start === undefined || start < barrier || (start === barrier && barrier > 0)) return undefined;
  const last = endOfRun(text, start, index);
  const next = reader.code(last);
  const end = endOfValue(text, start, last);
  if (end - start < minLength) return undefined;
  // The replaced rest of a value, or the scheme before a replaced credential.
  if (reader.matches(reader.replacement, next === 32 ? last + 1 : last)) return undefined;
  if (isForeignNamed(reader, start, end)) return { kind: 'assignment', start, end };
  const mentioned = findMentioned(reader, start, end);
  if (mentioned !== undefined || reader.starved) return mentioned;
  if (next > 127) return undefined;
  const mayBeNamed = (last - start >= minMentioned && hasBothCases(text, start, last)) || mayBeBehindSigns(text, start);
  const behind = mayBeNamed ? endBehindSigns(reader, start, last) : undefined;
  if (behind === undefined) {
    const stated = findStatedValue(reader, start, last, index);
    if (stated !== undefined || reader.starved) return stated;
    const ofLine = mayBeOnLoginLine(text, start, last) ? findOnLoginLine(reader, start) : undefined;
    if (ofLine !== undefined || reader.starved) return ofLine;
    const encoded = text.slice(start, last);
    const isEncoded = isEncodedPair(encoded) || isEncodedLogin(encoded);
    if (isEncoded) return { kind: 'basic', start, end: endOfPadding(reader, last) };
    if (isLoneId(reader, start, last)) return undefined;
    if (!hasLikelyScore(reader, start, end, last)) return undefined;
  }
  const run = text.slice(start, last);
  if (run.includes(reader.replacement)) return undefined;
  const value = text.slice(start, behind ?? end);
  if (isPlaceholder(value) || sample.test(value) || isEncodedText(value)) return undefined;
  if (isPrefixedId(reader, start, value)) return undefined;
  if (behind === undefined ? variable.test(run) || isCommon(run, value) : !isKey(value) && isCommon(run, value)) {
    return undefined;
  }
  const before = text.slice(reader.floor(start), start);
  if (brackets.has(next) || digest.test(before) || publicName.test(before) || namedHash.test(value)) {
    return undefined;
  }
  // A checksum before the name of its file, and behind its path.
  if (isHash(value) && lineStart.test(before) && /^ [ *]\S/.test(reader.slice(last, last + 3))) return undefined;
  if (isHash(value) && behindPath.test(before)) return undefined;
  if (isBreak(next) && beforeEnd.test(reader.slice(last, last + 18))) return undefined;
  if (value.length >= minLine && (isBreak(next) || next === 92) && lineStart.test(before)) return undefined;
  return behind === undefined ? { kind: 'likely', start, end } : { kind: 'assignment', start, end: behind };
};
