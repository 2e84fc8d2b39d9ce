/** Formats figures for people: short, with a unit, in one place so that every view agrees. */

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Time since a moment, such as `3 min`. Below ten seconds it is `now`. */
export const age = (at: number, now: number): string => {
  const passed = Math.max(0, now - at);
  if (passed < 10 * second) return 'now';
  if (passed < minute) return `${Math.floor(passed / second)} s`;
  if (passed < hour) return `${Math.floor(passed / minute)} min`;
  if (passed < day) return `${Math.floor(passed / hour)} h`;
  return `${Math.floor(passed / day)} d`;
};

/** A duration, such as `340 ms`, `2.4 s` or `3 min 12 s`. */
export const duration = (milliseconds: number): string => {
  if (milliseconds < second) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 99_950) return `${(milliseconds / second).toFixed(milliseconds < 9950 ? 1 : 0)} s`;
  if (milliseconds < hour) {
    return `${Math.floor(milliseconds / minute)} min ${Math.floor((milliseconds % minute) / second)} s`;
  }
  return `${Math.floor(milliseconds / hour)} h ${Math.floor((milliseconds % hour) / minute)} min`;
};

/** A count in at most four characters and a unit, such as `940`, `12.3k` or `1.2M`. */
export const count = (value: number): string => {
  if (value < 1000) return String(Math.round(value));
  if (value < 999_500) return `${trimmed(value / 1000)}k`;
  return `${trimmed(value / 1_000_000)}M`;
};

const trimmed = (value: number): string => (value < 99.95 ? value.toFixed(1).replace(/\.0$/u, '') : value.toFixed(0));

/** US dollars with two significant digits below a cent. */
export const dollars = (cost: number | null): string => {
  if (cost === null) return 'unknown';
  if (cost === 0) return '$0';
  if (cost < 0.000_1) return '< $0.0001';
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(2)}`;
};

/** A number of bytes or characters, such as `14 kB`. */
export const size = (bytes: number): string =>
  bytes < 1000 ? `${bytes} B` : bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** `1 approval`, `2 approvals`. */
export const plural = (value: number, noun: string): string => `${value} ${noun}${value === 1 ? '' : 's'}`;

const times = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const dates = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** The time of day today, the date otherwise. */
export const clock = (at: number, now: number): string =>
  now - at < 20 * hour ? times.format(at) : `${dates.format(at)}, ${times.format(at)}`;

/** A moment in full, for titles. */
export const moment = (at: number): string => moments.format(at);

/** A day of the form `2026-11-22`, such as `22 Nov`. */
export const dayLabel = (isoDay: string): string => dates.format(new Date(`${isoDay}T12:00:00`));

/** A session in one line where only its id is known. */
export const shortId = (id: string): string => (id.length > 12 ? `${id.slice(0, 8)}…` : id);
