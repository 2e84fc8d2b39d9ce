import { is, kindOf, likelyStop } from './characters.js';
import { isBreak, scoreOfPlace, scoreOfValue } from './likely-score.js';
import { minValue, threshold } from './likely-weights.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { isPlaceholder } from './value.js';

/** Lengths of the values that are scored. */
const minLength = 8;
const maxLength = 80;
/** Length of a value that is a whole line of a certificate or another text in base64. */
const minLine = 40;
/** Maximum number of lines above the value that count. */
const maxLinesAbove = 2;
const lineFeed = 10;

/**
 * Matches text beyond ASCII, paths, addresses, versions, dates, UUIDs, variables, measures, ids of keys of OpenPGP and
 * Google and of content in IPFS, abbreviated values, and names in code.
 */
const common =
  /[^!-~]|\.{3}$|-g[\da-f]{7,}$|_Z[A-Z][a-z]*\d|^Qm[1-9A-HJ-NP-Za-km-z]{44}$|^GOOG[\dA-Z]+$|^[.~@-]|^\/|\/.*\/|^[\w.+-]+@[\w-]+\.|^v?\d+\.\d|^\d+(?:[-/.T]\d+)+|^[a-z]+\d*(?:[._/-][a-z]+\d*)+$|^[A-Z\d]+(?:_[A-Z\d]+)+$|\.[a-z]{2,4}\d?$|^0x|^(?:[\dA-F]{16}|[\dA-F]{40})$|^[\da-z]{6,8}(?:-[\da-z]{4}){3}-|^[\dA-F]{8}-[\dA-F]{4}-|[$%{}]|^\d+(?:px|ms|[kKMG]B|bytes|bit|th)$|^[A-Za-z]+\d$|(?:[Uu]?[Ii]nt|[Ff]loat|[Bb]ase|[Uu]tf|UTF|[Ss]ha|SHA|[Mm]d|MD)\d{1,3}(?:[A-Z][a-z]+)*$/;
/** Matches examples, and descriptions of secrets. */
const sample = /example|token|secret|passw|(.)\1{4}/i;
/** Matches the name of an algorithm before a digest, as in the fingerprints of OpenSSH. */
const digest = /(?:sha|md)-?\d{1,3}[:=-]$/i;
const trailing = /[.?*]+$/;
/** Opening brackets, before which a value is the name of a function or part of a longer one. */
const brackets: ReadonlySet<number> = new Set([40, 91, 123]);

/** Whether the value is text with spaces in base64. */
const isEncodedText = (value: string): boolean =>
  /^[A-Za-z\d+/]+$/.test(value) && /^[!-~]+ [ -~\n]+$/.test(Buffer.from(value, 'base64').toString('latin1'));

/** Ends a value. */
const end = 8;
/** The marks of letters are 1 and those of digits 2, so their sum is 3 where they meet. */
const marksOf = [0, 1, 1, 2];
const marks = Uint8Array.from({ length: 128 }, (_, code) =>
  is(code, likelyStop) ? end : (marksOf[kindOf(code)] ?? 0),
);
const markAt = (text: string, index: number): number => marks[text.charCodeAt(index)] ?? end;
const meet = 3;

/** Returns the start of the value whose first letter and digit meet at the offset. */
const startOfValue = (text: string, index: number): number | undefined => {
  let mark = markAt(text, index - 1);
  if (mark + markAt(text, index) !== meet) return undefined;
  for (let start = index - 1; index - start < maxLength; start -= 1) {
    const before = start === 0 ? end : markAt(text, start - 1);
    if (before === end) return start;
    if (before + mark === meet) return undefined;
    mark = before;
  }
  return undefined;
};

/** Returns quickly whether the text around the offset may be a value to score. */
export const mayBeLikely = (text: string, index: number): boolean => {
  const start = startOfValue(text, index);
  if (start === undefined) return false;
  for (let at = index + 1; at < start + minLength && at < text.length; at += 1) {
    if (markAt(text, at) === end) return false;
  }
  return true;
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
  const last = reader.endOfRun(start, likelyStop, maxLength + 1, false);
  if (last - start > maxLength) return undefined;
  const run = text.slice(start, last);
  // The replaced rest of a value.
  if (run.includes(reader.replacement) || reader.matches(reader.replacement, last)) return undefined;
  const value = run.replace(trailing, '');
  if (value.length < minLength) return undefined;
  const { kind, score } = scoreOfValue(value);
  if (score < minValue || common.test(run) || common.test(value)) return undefined;
  if (isPlaceholder(value) || sample.test(value) || isEncodedText(value)) return undefined;
  const before = linesBefore(text, reader.floor(start), start);
  const next = reader.code(last);
  if (brackets.has(next) || digest.test(before)) return undefined;
  if (value.length >= minLine && (isBreak(next) || next === 92) && /(?:^|\n)[ \t]*$/.test(before)) return undefined;
  return score + scoreOfPlace(before, reader.code(start + value.length), kind) > threshold
    ? { kind: 'likely', start, end: start + value.length }
    : undefined;
};

/** Returns the text before an offset, with at most two lines above. */
const linesBefore = (text: string, floor: number, start: number): string => {
  let from = start;
  for (let breaks = 0; from > floor; from -= 1) {
    if (text.charCodeAt(from - 1) !== lineFeed) continue;
    if (breaks === maxLinesAbove) break;
    breaks += 1;
  }
  return text.slice(from, start);
};
