import { characterStart } from '@h/bounded';
import { checkValue, numberFrom } from '@h/options';

/** Options of {@link truncate}. */
export interface TruncateOptions {
  /** Maximum length of the result in UTF-16 units, the marker included. */
  readonly maxChars: number;
  /**
   * Text of the marker after the number of omitted characters (`stored as artifact "…"`). Omitted if it does not fit.
   */
  readonly note?: string | undefined;
}

/** A truncated string with the number of omitted characters. */
export interface Truncation {
  readonly text: string;
  /** Number of characters of the original that are not in `text`. */
  readonly omitted: number;
}

/** Number of characters at the end that are searched for important content. */
const tailWindow = 2_000;
/** A cut moves to a line end only if that removes less than this share of the part. */
const snapShare = 0.2;

/**
 * Truncates a string to its head and tail, with a marker between them that states the number of omitted characters. The
 * result never exceeds the cap.
 *
 * The tail is short unless it contains an error, an exit code, a stack trace, a summary or the end of a JSON document.
 * It then gets 30 % of the cap, up to 4,000 characters. Surrogate pairs stay whole, and lone surrogates become U+FFFD.
 * Only the remaining text is copied.
 *
 * @throws InvalidOptionError if `maxChars` is negative or not a number
 *
 * @example
 * ```ts
 * truncate(log, { maxChars: 16_000 });
 * ```
 */
export const truncate = (text: string, options: TruncateOptions): string => truncation(text, options).text;

/** Works like {@link truncate} and also returns the number of omitted characters. */
export const truncation = (text: string, { maxChars, note }: TruncateOptions): Truncation => {
  if (!(maxChars >= 0)) checkValue('truncate()', 'maxChars', maxChars, numberFrom(0, Infinity));
  const cap = Math.floor(maxChars);
  if (text.length <= cap) return { text: text.toWellFormed(), omitted: 0 };
  const marker = [noted(note), plain].find((candidate) => candidate(text.length).length <= cap / 2);
  if (marker === undefined) return bare(text, cap);
  const room = cap - marker(text.length).length;
  const tailRoom = matters(text) ? Math.min(Math.floor(room * 0.3), 4_000) : Math.min(Math.floor(room * 0.1), 1_000);
  const headEnd = endOfHead(text, room - tailRoom);
  const tailStart = startOfTail(text, text.length - tailRoom);
  const omitted = tailStart - headEnd;
  return { text: `${text.slice(0, headEnd)}${marker(omitted)}${text.slice(tailStart)}`.toWellFormed(), omitted };
};

type Marker = (omitted: number) => string;

const plain: Marker = (omitted) => `\n[… ${grouped(omitted)} characters omitted …]\n`;
const noted = (note: string | undefined): Marker =>
  note === undefined ? plain : (omitted) => `\n[… ${grouped(omitted)} characters omitted; ${note} …]\n`;

/** Formats a number with thousands separators, independent of the locale. */
export const grouped = (value: number): string => String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');

/** Returns the beginning and an ellipsis, for caps without room for a marker. */
const bare = (text: string, cap: number): Truncation => {
  if (cap === 0) return { text: '', omitted: text.length };
  const end = characterStart(text, cap - 1);
  return { text: `${text.slice(0, end)}…`.toWellFormed(), omitted: text.length - end };
};

const endOfHead = (text: string, room: number): number => {
  const newline = text.lastIndexOf('\n', room);
  return newline > room * (1 - snapShare) ? newline : characterStart(text, room);
};

const startOfTail = (text: string, from: number): number => {
  const room = text.length - from;
  // Only the tail is searched: without line ends, a search would read the whole string.
  const newline = text.slice(from - 1, from + Math.floor(room * snapShare)).indexOf('\n');
  if (newline !== -1) return from + newline;
  return characterStart(text, from) === from ? from : from + 1;
};

const telling: readonly RegExp[] = [
  /\b(?:errors?|exception|fail(?:ed|ure|ures)?|fatal|panic(?:ked)?|traceback|aborted|killed|errno|segmentation fault)\b/i,
  /\bexit(?:ed)?(?: with)?(?: code| status)?[:=]? ?-?\d/i,
  /^[ \t]+at .{1,300}:\d/m,
  /^[^\w\n]{0,20}(?:summary|totals?|results?|tests?|found|done)\b[^\n]{0,80}\d/im,
  /^[^\w\n]{0,20}\d[\d,.]* (?:passed|failed|skipped|errors?|warnings?|tests?|files?|matches)\b/im,
];

/** Returns whether the end contains an error, an exit code, a summary or the end of a JSON document. */
const matters = (text: string): boolean => {
  const tail = text.slice(-tailWindow);
  if (telling.some((sign) => sign.test(tail))) return true;
  return /[}\]]\s{0,8}$/.test(tail) && /^\s{0,8}[{[]/.test(text.slice(0, 16));
};
