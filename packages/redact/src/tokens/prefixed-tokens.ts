import { codeAt, is, kindOf, token as tokenClass, word } from '../text/characters.js';
import { maxReach, type Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';
import { digest, distinctOf, isHash, looksRandom } from '../values/value.js';

/** Minimum number of consecutive letters and digits in a token. */
const minRun = 16;
const minBody = 20;
/** Minimum number of characters after a prefix without a word that says what follows. */
const minUnnamed = 30;
const maxBody = 512;
const opening = 40;
const dot = 46;
const plus = 43;
const slash = 47;
const minDistinct = 8;
/** Kinds of characters. */
const lower = 1;
const capital = 2;

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Parts of a prefix that name a secret. */
const kinds = words(
  'sk rk key apikey api token tok tkn secret pat oat rat sat aat uat pak sak apik access refresh oauth auth bearer',
);
/** Parts of a prefix that name an environment or a version. */
const states = words('live test prod production sandbox sbox dev staging v1 v2 v3');
/** Parts of the prefixes of keys that providers call public, of ids and of hashes. */
const publicParts = words('pk pub public publishable id ids cs phc sha1 sha256 sha384 sha512 md5 diff nonce');

/** Matches the prefix of a token, such as `vendor_live_`. */
const prefix = /^(?:[a-z][a-z\d]{1,15}[_-](?:[a-z][a-z\d]{0,15}[_-]){0,3}|[A-Z]{2,10}\d?[_-])/;
/** Matches the name of a cache up to its hash, which begins with its version. */
const cache = /^v\d{1,2}-(?:[a-z]+-)+$/;
/** Matches letters of both cases and two numbers. */
const mixed = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d\D+\d)/;

/** Matches ids, which often begin with `01` for the time. */
const timed = /^01/;

/** Matches what is before an id: its name, or the name of a resource of AWS. */
const namesId =
  /(?:\barn:aws[\w:/-]{1,100}|(?<!(?:session|secret|key|Session|Secret|Key|SESSION|SECRET|KEY)[-_ ]?)(?:(?<=[-_ ])id|(?<=[a-z])Id|ID)["']?(?: ?[:=] ?| )["']?)$/;

/** Lengths of SHA-1, SHA-256, SHA-384 and SHA-512 in base64. */
const digestLengths: ReadonlySet<number> = new Set([27, 43, 64, 86]);

/** Returns quickly whether a separator may be followed by random characters. */
export const mayPrefix = (text: string, index: number): boolean => {
  if (index + minRun >= text.length) return true;
  // Most runs are words, which end before half of the distance.
  for (let at = index + (minRun >> 1); at > index; at -= 1) {
    if (kindOf(codeAt(text, at)) === 0 || kindOf(codeAt(text, at + (minRun >> 1))) === 0) return false;
  }
  return true;
};

/**
 * Finds a token of which only the form is known: a prefix of lower-case words or capitals, and random characters. If no
 * word of the prefix names a secret or an environment, it must be longer than ids are and have letters of both cases.
 */
export const findPrefixedToken = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!mayPrefix(text, index)) return undefined;
  const runEnd = endOfAlphanumerics(reader, index + 1);
  if (runEnd - index <= minRun || !reader.isRandom(index + 1, runEnd)) return undefined;
  const start = startOfWord(reader, index);
  if (start === undefined) return undefined;
  const match = prefix.exec(text.slice(start, index + 1));
  if (match === null) return undefined;
  const bodyStart = start + match[0].length;
  const end = endOfBody(reader, bodyStart);
  // A function has brackets behind its name.
  if (end - bodyStart < minBody || reader.code(end) === opening) return undefined;
  const parts = match[0].toLowerCase().split(/[_-]/);
  if (cache.test(match[0]) && !parts.some((part) => kinds.has(part))) return undefined;
  const body = text.slice(bodyStart, end);
  if (parts.some((part) => publicParts.has(part)) || timed.test(body)) return undefined;
  // Names of files and caches have a hash behind a hyphen.
  const isNamed =
    (parts.some((part) => kinds.has(part)) && !(isHash(body) && !match[0].endsWith('_') && parts[0] !== 'sk')) ||
    (parts.some((part) => states.has(part)) && !isHash(body));
  if (digestLengths.has(end - start) && digest.test(text.slice(reader.floor(start), start))) return undefined;
  const isSecret =
    (isNamed && kindOf(codeAt(text, start)) === lower) ||
    (isLong(body, text.slice(index + 1, runEnd)) && !namesId.test(text.slice(reader.floor(start), start)));
  return isSecret ? { kind: 'api-key', start, end } : undefined;
};

/** Whether a token is longer than ids. */
const isLong = (body: string, run: string): boolean => body.length >= minUnnamed && mixed.test(run) && isDense(run);

const endOfAlphanumerics = (reader: Reader, start: number): number => {
  const { text } = reader;
  const limit = Math.min(start + maxBody, reader.length);
  let end = start;
  while (end < limit && kindOf(codeAt(text, end)) !== 0) end += 1;
  // The run may continue behind an unfinished text.
  if (end < start + maxBody) reader.code(end);
  return end;
};

/** Returns the end of a token, which may have parts after full stops. */
const endOfBody = (reader: Reader, start: number): number => {
  let end = reader.endOfRun(start, tokenClass, maxBody);
  while (reader.code(end) === dot) {
    const next = endOfAlphanumerics(reader, end + 1);
    if (next - end <= minRun || !looksRandom(reader.text.slice(end + 1, next))) break;
    end = next;
  }
  return end;
};

/** Returns the start of the word, unless it is part of a path of data. */
const startOfWord = (reader: Reader, index: number): number | undefined => {
  let start = index;
  const floor = Math.max(reader.barrier, index - maxReach);
  while (start > floor && is(codeAt(reader.text, start - 1), tokenClass)) start -= 1;
  const before = reader.before(start);
  return is(before, word) || before === plus || before === slash ? undefined : start;
};

/** Whether a run alternates between letters of both cases and digits more often than names with numbers do. */
const isDense = (run: string): boolean => {
  let changes = 0;
  for (let index = 1; index < run.length; index += 1) {
    const [before, kind] = [kindOf(run.charCodeAt(index - 1)), kindOf(run.charCodeAt(index))];
    // Lower-case letters after a capital are usual in names.
    if (kind !== before && (before !== capital || kind !== lower)) changes += 1;
  }
  return changes * 4 >= run.length && distinctOf(run) >= minDistinct;
};
