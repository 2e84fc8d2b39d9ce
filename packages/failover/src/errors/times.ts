const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time of day in any of the forms that HTTP and JSON have, as milliseconds since 1970. */
export const readDate = (text: string | undefined): number | undefined => {
  if (text === undefined || !/[a-z]{3}|\d{4}-\d\d/i.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
};

/** A duration as Go, Google or people write it (`6m0s`, `0.5s`, `9m38.016s`, `2 days 17 hours`), in milliseconds. */
export const readDuration = (text: string): number | undefined => {
  let total: number | undefined;
  for (const [, amount = '', unit = ''] of text.matchAll(/(\d{1,12}(?:\.\d{1,12})?) ?([a-z]{1,12})/gi)) {
    const ms = units[unitOf(unit.toLowerCase())];
    if (ms === undefined) break;
    total = (total ?? 0) + Number(amount) * ms;
  }
  return total;
};

const unitOf = (word: string): string => {
  if (word.startsWith('ms') || word.startsWith('milli')) return 'ms';
  return /^(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)$/.test(word) ? word.charAt(0) : word;
};

/**
 * How far away a moment is that is told as seconds from now, as seconds or milliseconds since 1970, or as a date; in
 * milliseconds.
 */
export const readMoment = (value: string | number, now: number): number | undefined => {
  const number = typeof value === 'number' ? value : /^\s*\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) {
    const date = typeof value === 'string' && /[-:]/.test(value) ? readDate(value) : undefined;
    return date === undefined ? undefined : date - now;
  }
  if (number < 1e9) return number * 1_000;
  return (number < 1e11 ? number * 1_000 : number) - now;
};
