import { codeAt, lineStop, stop, valueStop } from '../text/characters.js';
import { appPassword, groupsOfFour, isNoisy, isUnlikeCode, mixedGroups } from './chosen-value.js';
import { endsLine } from '../text/gaps.js';
import type { Key } from '../names/key.js';
import { type Quote, quoteAt } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';

/** Maximum length of the arguments of a call behind its first one. */
const maxArguments = 128;
const maxUnquoted = 512;

/** The letters of `b"…"`, `N'…'` and similar strings. */
const quotePrefixes: ReadonlySet<number> = new Set(Array.from('bruenl', (letter) => letter.charCodeAt(0)));

/** Reads the innermost quote of `"…"`, `N'…'`, `@"…"`, `"""…` and `"\"…\""`. */
export const openingQuote = (reader: Reader, index: number): Quote | undefined => {
  const code = reader.code(index);
  const isPrefix = code === 64 || quotePrefixes.has(code | 32);
  const outer = quoteAt(reader, isPrefix ? index + 1 : index);
  if (outer === undefined) return undefined;
  const { end, literal } = outer;
  if (reader.matches(`${literal}${literal}`, end)) {
    const start = end + 2 * literal.length;
    return { end: reader.code(start) === 10 ? start + 1 : start, literal };
  }
  const inner = quoteAt(reader, end);
  return inner === undefined || inner.literal === literal ? outer : inner;
};

/** Returns the start of the text behind `>-` or `|`, which begin a block in YAML. */
export const startOfBlock = (reader: Reader, from: number): number | undefined => {
  const first = reader.code(from);
  if (first !== 62 && first !== 124) return undefined;
  const head = /^[>|][-+]?\r?\n[ ]{1,40}(?=\S)/.exec(reader.slice(from, from + 46));
  return head === null ? undefined : from + head[0].length;
};

/** Matches the words of a recovery phrase. */
const recoveryPhrase = /^[a-z]{3,8}(?: [a-z]{3,8}){11,23}(?![\w ])/;

/** Returns the end of a value of several words. */
export const endOfWords = (reader: Reader, { name }: Key, start: number, end: number): number => {
  if (end - start < 3 || end - start > 8) return end;
  if (/phrase|mnemonic/i.test(name)) {
    return start + (recoveryPhrase.exec(reader.slice(start, start + 220))?.[0].length ?? end - start);
  }
  const mixed = end - start === 4 && /pass/i.test(name) ? mixedGroups.exec(reader.slice(start, start + 64)) : null;
  if (mixed !== null) return start + mixed[0].length;
  const groups = end - start === 4 ? groupsOfFour.exec(reader.slice(start, start + 64)) : null;
  if (groups !== null) return start + groups[0].length;
  return end - start === 4 && /pass/i.test(name)
    ? start + (appPassword.exec(reader.slice(start, start + 21))?.[0].length ?? 4)
    : end;
};

/** The vertical lines of tables, besides `|`. */
export const bars: ReadonlySet<number> = new Set(Array.from('│┃║', (bar) => bar.charCodeAt(0)));

/** Returns the offset of the first bar of a table in a range, or its end. */
export const startOfBar = (text: string, start: number, end: number): number => {
  for (let index = start; index < end; index += 1) if (bars.has(codeAt(text, index))) return index;
  return end;
};

/** Extends a value past a bracket in it, unless the bracket is that of a call, a subscript or a condition. */
export const endPastBracket = (reader: Reader, start: number, from: number): number => {
  const bracket = reader.code(from);
  if (bracket !== 40 && bracket !== 91) return from;
  const end = reader.endOfRun(start, lineStop, maxUnquoted, false);
  const [rest = ''] = reader.slice(from, end + maxArguments).split('\n', 1);
  const inner = rest.slice(1, end - from);
  // A replacement has brackets, too.
  if (reader.slice(from, end).includes(reader.replacement)) return from;
  const closing = Math.max(inner.lastIndexOf(')'), inner.lastIndexOf(']'));
  if (closing !== -1) return /\w/.test(inner.charAt(closing + 1)) ? end : from;
  return inner === '' || /[,)\]]/.test(rest) ? from : end;
};

/** Matches the signs that end a value in code and may be part of a chosen password. */
const signInValue = /[)\],;{}|<>]/;

/** Matches what belongs to code and markup: settings, calls, arrows, operators, templates, generic types and elements. */
const ofCode =
  /[,;|&{[][\w.-]+[=:]|\w=\w[^,;|&]*$|\(|[-=]>|&&|\|\||[$#]\{|\{\{|\{\d*\}|<\/|<[a-z]+>|^[\w.]+<[\w<>,.|[\]]+>/i;

const minSigned = 8;
const maxSigned = 64;

/**
 * Extends a value past signs in it, as in `aB3)dE9xQ`, if it is a word of a line or the rest of a line, has digits between
 * its letters, and nothing of code.
 */
export const endPastSign = (reader: Reader, key: Key, start: number, from: number, isCell: boolean): number => {
  const { text } = reader;
  if (key.strength !== 'strong' || !signInValue.test(text.charAt(from))) return from;
  const before = key.start > reader.floor(key.start) ? text.charAt(key.start - 1) : ' ';
  if (!/[\s"']/.test(before) || (key.isQuoted && !isCell)) return from;
  const run = reader.endOfRun(start, valueStop, maxSigned + 1, false);
  const value = text.slice(start, run).replace(/[),;\]}]+$/, '');
  const end = start + value.length;
  if (end <= from || value.length < minSigned || value.length > maxSigned || ofCode.test(value)) return from;
  if (value.includes(reader.replacement)) return from;
  const behind = text.charAt(run);
  const isWhole = Number.isNaN(reader.code(run)) || (/["']/.test(before) ? behind === before : /\s/.test(behind));
  return isWhole && (isNoisy(value) || value.split(/[^A-Za-z\d]+/).some(isUnlikeCode)) ? end : from;
};

/** Extends a value past ampersands, unless one begins another parameter, an entity or a command. */
export const endAfterAmpersands = (reader: Reader, key: Key, start: number, from: number): number => {
  const before = reader.before(key.start);
  let end = from;
  if (before === 38 || before === 63) return end;
  while (end > start && end < start + maxUnquoted && reader.code(end) === 38) {
    if (/^&(?:$|[&\s;]|[\w.%-]{1,40}=|amp;|quot;|apos;|lt;|gt;|#)/.test(reader.slice(end, end + 44))) break;
    end = reader.endOfRun(end + 1, stop, maxUnquoted, false);
  }
  return end;
};

/** Whether the name is at the beginning of a line, including an escaped line, or after `export`. */
export const isLineStart = (reader: Reader, start: number): boolean => {
  const before = reader.before(start);
  if (Number.isNaN(before) || before === 10 || before === 13) return true;
  // Each form below ends with a space or the letter of an escaped line feed.
  if (before !== 32 && before !== 9 && before !== 110) return false;
  return /(?:\\n|\n\s{0,12}|(?:^|\s)(?:export|env|-e|--env|ENV|ARG) {1,2})$/.test(
    reader.text.slice(Math.max(reader.barrier, start - 20), start),
  );
};

/** Whether a name begins a line that ends with its value. */
export const isSetting = (reader: Reader, nameStart: number, start: number): boolean =>
  isLineStart(reader, nameStart) && endsLine(reader, reader.endOfRun(start, stop, maxUnquoted, false));
