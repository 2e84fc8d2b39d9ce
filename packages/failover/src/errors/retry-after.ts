import type { FailoverReason } from '../reasons.js';
import type { Evidence } from './evidence.js';
import { readDate, readDuration, readMoment } from './times.js';

/** Longer than any allowance is counted; what says more is a mistake. */
const longestMs = 31 * 24 * 60 * 60 * 1_000;

/** Rate-limit headers come with every answer; they say something about these only. */
const limits: ReadonlySet<FailoverReason> = new Set(['rate-limit', 'quota']);
const waits: ReadonlySet<FailoverReason> = new Set([
  'rate-limit',
  'quota',
  'overloaded',
  'server-error',
  'unknown',
  'timeout',
]);

/**
 * How long the provider wants to be left alone, in milliseconds.
 *
 * In this order: `retry-after-ms`, `retry-after`, a time in the body (Google's RetryInfo), a time in the message, reset
 * headers of the allowance that is used up.
 */
export const retryAfterOf = (
  evidence: Evidence,
  reason: FailoverReason,
  now: number | undefined,
): number | undefined => {
  if (!waits.has(reason)) return undefined;
  const { headers } = evidence;
  // oxlint-disable-next-line h/no-clock -- the default clock of a function that works alone, which callers may replace
  const from = now ?? readDate(headers.get('date')) ?? Date.now();
  const told = inHeaders(headers, from) ?? inBody(evidence.times, from) ?? inText(evidence.text, from);
  const found = told ?? (limits.has(reason) ? resetOf(headers, from) : undefined);
  if (found === undefined || !Number.isFinite(found)) return undefined;
  return Math.min(Math.max(0, Math.ceil(found)), longestMs);
};

type Headers = Evidence['headers'];

const inHeaders = (headers: Headers, now: number): number | undefined => {
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (ms >= 0) return ms;
  const given = headers.get('retry-after');
  if (given === undefined) return undefined;
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(given)) return Number(given) * 1_000;
  const date = readDate(given);
  return date === undefined ? undefined : date - now;
};

const inBody = (times: Evidence['times'], now: number): number | undefined => {
  for (const [name, value] of times) {
    const isMoment = name === 'resets_at' || name === 'reset_at';
    const found = isMoment ? readMoment(value, now) : inUnit(name, value);
    if (found !== undefined) return found;
  }
  return undefined;
};

const inUnit = (name: string, value: string | number): number | undefined => {
  const number = Number(value);
  if (Number.isFinite(number)) return name.endsWith('_ms') ? number : number * 1_000;
  return readDuration(String(value));
};

const inText = (text: string, now: number): number | undefined => {
  const [, day, time] = /regain access on (\d{4}-\d\d-\d\d)(?: at (\d\d:\d\d))? ?UTC/i.exec(text) ?? [];
  if (day !== undefined) return Date.parse(`${day}T${time ?? '00:00'}:00Z`) - now;
  const [, until] = /limit reached\|(\d{10})\b/i.exec(text) ?? [];
  if (until !== undefined) return Number(until) * 1_000 - now;
  const [, span] =
    /(?:try again|retry)[^\n\d]{0,12}(?:in|after) ((?:\d[\d.]{0,12} ?[a-z]{1,12}[ ,]{0,2}){1,4})/i.exec(text) ?? [];
  return span === undefined ? undefined : readDuration(span);
};

/** When the allowance that is used up is there again; of several the one that takes longest, else the first to come. */
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
  const usedUp = resets.filter(({ isUsedUp }) => isUsedUp).map(({ ms }) => ms);
  if (usedUp.length > 0) return Math.max(...usedUp);
  return resets.length === 0 ? undefined : Math.min(...resets.map(({ ms }) => ms));
};

/** A duration (`6m0s`), seconds, a moment in seconds or milliseconds since 1970, or a date. */
const readReset = (value: string, now: number): number | undefined =>
  /^\s*\d/.test(value) && !value.includes('T')
    ? (readMoment(value, now) ?? readDuration(value))
    : readMoment(value, now);
