import type { Spending } from './analysis/usage.js';

/** Formats a number with thousands separators. */
export const grouped = (value: number): string => Math.round(value).toLocaleString('en-US');

/** Formats dollars: cents from a dollar on, four digits below. */
export const dollars = (value: number): string => `$${value.toFixed(value >= 1 || value === 0 ? 2 : 4)}`;

/** Formats the cost of calls, some of which may have no known price. */
export const price = ({ cost, requests, unpriced }: Omit<Spending, 'usage'>): string => {
  if (unpriced === 0) return dollars(cost);
  return unpriced === requests ? 'unknown cost' : `at least ${dollars(cost)}`;
};

/** Formats tokens with a unit: `1.23B`, `12.3M`, `45.6k`. */
export const tokens = (value: number): string => {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)}B`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)}M`;
  return value >= 1e4 ? `${(value / 1e3).toFixed(1)}k` : grouped(value);
};

/** Formats a duration with its largest unit: `45 s`, `12 min`, `3 h`, `2 d`. */
export const duration = (ms: number): string => {
  const [unit, size] = units.find((each) => ms >= each[1]) ?? seconds;
  return `${Math.floor(ms / size)} ${unit}`;
};

const seconds = ['s', 1000] as const;
const units = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], seconds] as const;

export const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;

/** Formats a number with its noun: `1 session`, `1,200 sessions`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${grouped(value)} ${value === 1 ? one : many}`;

/** Says how many lines of the transcripts could not be read. */
export const skippedLinesText = (count: number): string =>
  `${counted(count, 'line')} ${count === 1 ? 'is not a JSON object and was' : 'are not JSON objects and were'} skipped.`;

/** Replaces characters that control a terminal, which commands and names of tools may contain. */
export const printable = (text: string): string => text.replaceAll(/[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu, '\u{FFFD}');

/** The name of a call without one. */
export const noName = '(no name)';
