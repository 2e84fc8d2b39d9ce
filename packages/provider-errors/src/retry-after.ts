import type { Evidence } from './evidence.js';
import type { ErrorReason } from './reasons.js';

/** No allowance is counted over a longer period; a longer wait is a mistake of the server. */
const longestMs = 31 * 24 * 60 * 60 * 1_000;
/** Values below are seconds from now, values above are seconds, and far above milliseconds, since 1970. */
const firstTimestamp = 1e9;
const firstTimestampMs = 1e11;

/** Rate-limit headers come with every answer; only for these reasons do they tell how long to wait. */
const limits: ReadonlySet<ErrorReason> = new Set(['rate-limit', 'quota']);
const waits: ReadonlySet<ErrorReason> = new Set([
  'rate-limit',
  'quota',
  'overloaded',
  'server-error',
  'unknown',
  'timeout',
]);

/**
 * The shortest wait that the provider asks for, in milliseconds.
 *
 * Sources in this order: `retry-after-ms`, `retry-after`, a member of the body (Google's RetryInfo), the message, and the
 * reset headers of the allowance that is used up.
 */
export const retryAfterOf = (evidence: Evidence, reason: ErrorReason, now: number | undefined): number | undefined => {
  if (!waits.has(reason)) return undefined;
  const { headers } = evidence;
  // oxlint-disable-next-line h/no-clock -- the default clock of a pure function, which callers may replace
  const from = now ?? readDate(headers.get('date')) ?? Date.now();
  const stated = inHeaders(headers, from) ?? inBody(evidence.times, from) ?? inText(evidence.text, from);
  const found = stated ?? (limits.has(reason) ? resetOf(headers, from) : undefined);
  if (found === undefined || !Number.isFinite(found)) return undefined;
  return Math.min(Math.max(0, Math.ceil(found)), longestMs);
};

type Headers = Evidence['headers'];

const inHeaders = (headers: Headers, now: number): number | undefined => {
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? headers.get('x-ms-retry-after-ms') ?? '');
  if (ms >= 0) return ms;
  const given = headers.get('retry-after');
  if (given === undefined) return undefined;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(given)) return Number(given) * 1_000;
  const date = readDate(given);
  return date === undefined ? undefined : date - now;
};

const moments: ReadonlySet<string> = new Set(['resets_at', 'reset_at', 'quotaresettimestamp']);

const inBody = (times: Evidence['times'], now: number): number | undefined => {
  for (const [name, value] of times) {
    const found = moments.has(name) ? readMoment(value, now) : inUnit(name, value);
    if (found !== undefined) return found;
  }
  return undefined;
};

const inUnit = (name: string, value: string | number): number | undefined => {
  const number = Number(value);
  if (Number.isFinite(number)) return name.endsWith('ms') ? number : number * 1_000;
  return readDuration(String(value));
};

const waitInText =
  /(?:try again|retry|resets?|available|wait|come back)[^\n\d]{0,16}?(?:in|after|for|about)? ((?:\d[\d.]{0,12} ?[a-z]{1,12}[ ,]{0,2}){1,4})/i;

/** `Retry-After: 30`, `retry_after_ms=1500`, `'retryDelay': '12s'` */
const memberInText =
  /\b(retry[-_ ]?(?:after|delay)(?:[-_]?(?:ms|seconds))?)["']?\s{0,2}[:=]\s{0,2}["']?(\d[\d.]{0,12}[a-z]{0,2})/i;

const momentInText =
  /(?:resets?|until|again|available)\b[^\d\n]{0,12}(\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.]{0,12}(?:Z|[+-]\d\d:?\d\d))/i;

const inText = (text: string, now: number): number | undefined => {
  const [, member, value] = memberInText.exec(text) ?? [];
  if (member !== undefined && value !== undefined) return inUnit(member.toLowerCase(), value);
  const moment = readDate(momentInText.exec(text)?.[1]);
  if (moment !== undefined) return moment - now;
  const [, day, time] = /regain access on (\d{4}-\d\d-\d\d)(?: at (\d\d:\d\d))? ?UTC/i.exec(text) ?? [];
  if (day !== undefined) return Date.parse(`${day}T${time ?? '00:00'}:00Z`) - now;
  const [, until] = /limit reached\|(\d{10})\b/i.exec(text) ?? [];
  if (until !== undefined) return Number(until) * 1_000 - now;
  const [, span] = waitInText.exec(text) ?? /(\d{1,6} ?(?:秒|分钟|小时))后/.exec(text) ?? [];
  return span === undefined ? undefined : readDuration(span);
};

/** When the allowance that is used up returns: the longest wait of several; the shortest if none is marked as used up. */
const resetOf = (headers: Headers, now: number): number | undefined => {
  const resets: { readonly ms: number; readonly isUsedUp: boolean }[] = [];
  for (const [name, value] of headers) {
    const [, before, after] =
      /^((?:x-|anthropic-)?ratelimit-(?:[a-z]{1,10}-){0,2})reset(-[a-z-]{1,20})?$/.exec(name) ?? [];
    if (before === undefined) continue;
    const ms = readReset(value, now);
    const remaining = headers.get(`${before}remaining${after ?? ''}`);
    if (ms !== undefined && ms > 0) resets.push({ ms, isUsedUp: remaining !== undefined && Number(remaining) <= 0 });
  }
  // `limit=100, remaining=0, reset=5`, later `"default";r=0;t=5`
  const [, seconds] = /[\s;](?:t|reset)=(\d{1,9})\b/.exec(headers.get('ratelimit') ?? '') ?? [];
  if (seconds !== undefined) resets.push({ ms: Number(seconds) * 1_000, isUsedUp: false });
  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp).map(({ ms }) => ms);
  if (usedUp.length > 0) return Math.max(...usedUp);
  return resets.length === 0 ? undefined : Math.min(...resets.map(({ ms }) => ms));
};

/** A duration (`6m0s`), seconds, a timestamp, or a date. */
const readReset = (value: string, now: number): number | undefined =>
  /^\s*\d/.test(value) && !value.includes('T')
    ? (readMoment(value, now) ?? readDuration(value))
    : readMoment(value, now);

/** A date in any form of HTTP and JSON, in milliseconds since 1970. */
const readDate = (text: string | undefined): number | undefined => {
  if (text === undefined || !/[a-z]{3}|\d{4}-\d\d/i.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
};

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  秒: 1_000,
  分钟: 60_000,
  小时: 3_600_000,
};

/** A duration as Go, Google or people write it (`6m0s`, `0.5s`, `9m38.016s`, `2 days 17 hours`), in milliseconds. */
const readDuration = (text: string): number | undefined => {
  let total: number | undefined;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d{1,12}(?:\.\d{1,12})?) ?([a-z]{1,12}|秒|分钟|小时)/gi)) {
    const ms = unitMs[unitOf(unit.toLowerCase())];
    if (ms === undefined) break;
    total = (total ?? 0) + Number(amount) * ms;
  }
  return total;
};

const unitOf = (word: string): string => {
  if (word.startsWith('ms') || word.startsWith('milli')) return 'ms';
  return /^(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)$/.test(word) ? word.charAt(0) : word;
};

/** The time from now to a moment given as seconds from now, as a timestamp, or as a date; in milliseconds. */
const readMoment = (value: string | number, now: number): number | undefined => {
  const number = typeof value === 'number' ? value : /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) {
    const date = typeof value === 'string' && /[-:]/.test(value) ? readDate(value) : undefined;
    return date === undefined ? undefined : date - now;
  }
  if (number < firstTimestamp) return number * 1_000;
  return (number < firstTimestampMs ? number * 1_000 : number) - now;
};
