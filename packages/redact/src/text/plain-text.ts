import { OffsetMap } from './offset-map.js';

/**
 * What tools print before a line: its number (`cat -n`, `grep -n`, tools that read files), a time, the name of a service
 * (Docker Compose), and in changes a sign.
 */
const number = String.raw`[ \t]{0,8}\d{1,7}(?:\t|\\{1,15}t|→|: ?(?!\d)| ?│ ?)`;
const time = String.raw`\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]`;
const service = String.raw`[\w.]{1,24}-\d{1,3} {1,4}\| `;
const sign = String.raw`(?:[+-](?=[ \t\w"'$@|<{[#/*.(│])|\+(?=-{3}))`;
const quotation = String.raw`(?:> ?){1,3}(?=[\w"'$@|<{[#/*.(-])`;
const prefix = new RegExp(`(?:${number}|${time}|${service}|${sign})`, 'y');
const secretPrefix = new RegExp(`(?:${number}|${time}|${service}|${sign}|${quotation})`, 'y');
/** A margin before the prompt of a shell, as transcripts in documents have it. */
const margin = /(?:\t| {2})[ \t]{0,14}(?=(?:[$>]|PS(?: [A-Z]:[^\n>]{0,40})?>) \S)/y;
/** Matches what may be the beginning of a margin and a prompt at the end of a text. */
const openMargin = /(?<=^|\n)[ \t]{1,16}(?:[$>] ?|PS?(?: (?:[A-Z](?::[^\n>]{0,40})?)?)?(?:> ?)?)?$/;
/** Maximum length of a margin and a prompt. */
const maxMargin = 72;

/** Returns the start of what may become a margin before a prompt when more text arrives; the length of the text without one. */
export const startOfMargin = (text: string): number => {
  const tail = text.slice(-maxMargin);
  const found = openMargin.exec(tail)?.index;
  return found === undefined ? text.length : text.length - tail.length + found;
};
/** Signs of comments and quotations. What ends a comment of HTML is none of them. */
const commentSign = String.raw`(?:#{1,2}|\/{2,3}|(?:> ?){1,3}|\*|;{1,2}|--(?!-?>)|\+)`;
const comment = new RegExp(String.raw`[ \t]{0,8}${commentSign}[ \t]?(?=\S)`, 'y');
/** Two lines with the same of these. */
export const commented = new RegExp(String.raw`^[ \t]{0,8}(${commentSign})[^\n]{0,400}\n[ \t]{0,8}\1`, 'm');
/** Maximum length of what is before a line, and of the character behind it. */
export const maxPrefix = 48;

/** A line feed, a return, a tab or a quote as strings in JSON and code have it, escaped up to four times. */
const escape = /\\{1,15}[nrt"']/y;
/** Backslashes before a character. */
const maxEscapes = 15;
const characters: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['"', '"'],
  ["'", "'"],
]);

/** A sign, a quote or a space as HTML and XML have it. */
const entity = /&(?:(quot|apos|lt|gt|amp|nbsp)|#(?:(\d{2,4})|x([\da-f]{2,4})));/iy;
const named: ReadonlyMap<string, string> = new Map([
  ['quot', '"'],
  ['apos', "'"],
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['nbsp', ' '],
]);

/** Returns the entity at an offset with the ASCII character it stands for; `undefined` for others. */
const entityAt = (text: string, index: number): { readonly end: number; readonly character: string } | undefined => {
  entity.lastIndex = index;
  const found = entity.exec(text);
  if (found === null) return undefined;
  const [whole, name, decimal, hexadecimal] = found;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  const character = name === undefined ? String.fromCharCode(code) : (named.get(name.toLowerCase()) ?? '');
  return /^[ -~]$/.test(character) ? { end: index + whole.length, character } : undefined;
};

const beforeLine = new RegExp(String.raw`(?:${number}|${time}|${service}|@@ -\d|\+\+\+ )`, 'y');
/** Signs of quotations and of added lines, which prose has for other purposes. */
const beforeMarked = new RegExp(String.raw`(?:${quotation}|\+(?=[ \t]{0,16}[\w"'$@|<{[#/*.(]))`, 'y');

/** Where a text is first not plain: at an escape, at an entity, or at what is printed before a line. */
export interface NotPlain {
  readonly index: number;
  readonly end: number;
  readonly kind: 'escape' | 'entity' | 'line';
  /** The margin of the lines. */
  readonly margin?: string | undefined;
}

/**
 * What a text is read for. In prose, signs of comments and quotations before lines are not plain, and entities remain, so that
 * tags that a page shows do not become tags of the page.
 */
export type Purpose = 'secrets' | 'prose';

/** Looks for these by their first characters: one expression for all would be tried at each character. */
export const firstNotPlain = (
  text: string,
  from: number,
  isBeginning: boolean,
  purpose: Purpose,
): NotPlain | undefined => {
  const first = firstEscape(text, from);
  const second = purpose === 'secrets' ? firstEntity(text, from) : undefined;
  const found = first === undefined || (second !== undefined && second.index < first.index) ? second : first;
  const until = found?.index ?? text.length;
  const isStart = from === 0 ? isBeginning : text.charAt(from - 1) === '\n';
  for (let line = isStart ? from : behindFeed(text, from); line < until; line = behindFeed(text, line)) {
    beforeLine.lastIndex = line;
    if (beforeLine.test(text)) return { index: line, end: beforeLine.lastIndex, kind: 'line' };
    if (purpose === 'prose') continue;
    beforeMarked.lastIndex = margin.lastIndex = line;
    if (beforeMarked.test(text)) return { index: line, end: beforeMarked.lastIndex, kind: 'line' };
    const blanks = margin.exec(text)?.[0];
    if (blanks !== undefined) return { index: line, end: margin.lastIndex, kind: 'line', margin: blanks };
  }
  return found;
};

const firstEscape = (text: string, from: number): NotPlain | undefined => {
  for (let index = text.indexOf('\\', from); index !== -1; index = text.indexOf('\\', index)) {
    escape.lastIndex = index;
    if (text.charAt(index - 1) !== '\\' && escape.test(text)) return { index, end: escape.lastIndex, kind: 'escape' };
    while (text.charAt(index) === '\\') index += 1;
  }
  return undefined;
};

const firstEntity = (text: string, from: number): NotPlain | undefined => {
  for (let index = text.indexOf('&', from); index !== -1; index = text.indexOf('&', index + 1)) {
    const found = entityAt(text, index);
    if (found !== undefined) return { index, end: found.end, kind: 'entity' };
  }
  return undefined;
};

/** Returns the start of the next line; the length of the text without one. */
const behindFeed = (text: string, from: number): number => {
  const feed = text.indexOf('\n', from);
  return feed === -1 ? text.length : feed + 1;
};

/** Maximum length of the first line of a string. */
export const maxFirstLine = 200;
const firstLine = new RegExp(String.raw`[^"\\\n]{0,${maxFirstLine}}\\{1,15}[nrt"']`, 'y');

/** Whether the quote at an offset may begin a string. */
export const mayOpen = (text: string, quote: number): boolean => {
  const before = text.charAt(quote - 1) === ' ' ? quote - 2 : quote - 1;
  return '[({,:='.includes(text.charAt(before) || '-');
};

/** Whether the quote at an offset begins a string with escapes, which begins a line. */
const opens = (text: string, quote: number): boolean => {
  firstLine.lastIndex = quote + 1;
  return mayOpen(text, quote) && firstLine.test(text);
};

/** Maximum length of the last line of a string. Streams retain more than this. */
const maxLastLine = 140;

/** Whether the quote at an offset ends a string in compact JSON, or the last one of a line, which ends a line. */
const closes = (text: string, quote: number): boolean => {
  if (' \n:,[{="'.includes(text.charAt(quote - 1))) return false;
  const next = text.charAt(quote + 1);
  const second = text.charAt(quote + 2);
  if (next === ']') return second === '' || ',}]\n'.includes(second);
  return next === '}' || (next === ',' && (second === '"' || second === '\n'));
};

const orEnd = (index: number): number => (index === -1 ? Number.POSITIVE_INFINITY : index);

/** The lines of a text without escapes and entities, and without what is printed before them. A string with escapes begins a line. */
export class PlainText {
  readonly text: string;
  readonly #offsets: OffsetMap;

  /**
   * @param isBeginning whether a line begins with the text
   * @param blanks the margin of the lines
   */
  constructor(original: string, isBeginning: boolean, purpose: Purpose, blanks = '') {
    const offsets = new OffsetMap(original);
    const replace = (start: number, end: number, character: string): void => offsets.replace(start, end, character);
    const beginLine = (start: number): void => {
      const from = blanks !== '' && original.startsWith(blanks, start) ? start + blanks.length : start;
      const before = purpose === 'secrets' ? secretPrefix : prefix;
      before.lastIndex = from;
      const end = before.test(original) ? before.lastIndex : from;
      if (end > start) replace(start, end, '');
      if (purpose === 'secrets') return;
      comment.lastIndex = Math.max(start, offsets.last);
      if (comment.test(original)) replace(Math.max(start, offsets.last), comment.lastIndex, '');
    };
    if (isBeginning) beginLine(0);
    let feed = orEnd(original.indexOf('\n'));
    let quote = orEnd(original.indexOf('"'));
    /** The end of the last escape, and the last quote without one. */
    let [escapeEnd, lastQuote] = [-1, -1];
    let slash = orEnd(original.indexOf('\\', offsets.last));
    let ampersand = purpose === 'secrets' ? orEnd(original.indexOf('&', offsets.last)) : Number.POSITIVE_INFINITY;
    const next = (): number => Math.min(feed, quote, slash, ampersand);
    for (let index = next(); index < original.length; index = next()) {
      if (index === ampersand) {
        const found = index < offsets.last ? undefined : entityAt(original, index);
        if (found !== undefined) replace(index, found.end, found.character);
        ampersand = orEnd(original.indexOf('&', Math.max(index + 1, offsets.last)));
      } else if (index === feed) {
        beginLine(feed + 1);
        feed = orEnd(original.indexOf('\n', feed + 1));
      } else if (index === quote) {
        if (opens(original, quote)) {
          replace(quote, quote + 1, '\n');
          beginLine(quote + 1);
        } else if (purpose === 'secrets' && escapeEnd > lastQuote && quote - escapeEnd < maxLastLine) {
          if (closes(original, quote)) replace(quote, quote + 1, '\n');
        }
        lastQuote = quote;
        quote = orEnd(original.indexOf('"', quote + 1));
      } else {
        let end = slash;
        while (original.charAt(end) === '\\') end += 1;
        const character = end - slash > maxEscapes ? undefined : characters.get(original.charAt(end));
        if (character !== undefined) {
          replace(slash, end + 1, character);
          escapeEnd = end + 1;
        }
        if (character === '\n') beginLine(end + 1);
        if (quote === end) quote = orEnd(original.indexOf('"', end + 1));
        slash = end;
      }
      if (slash < Number.POSITIVE_INFINITY) slash = orEnd(original.indexOf('\\', Math.max(slash, offsets.last)));
    }
    this.#offsets = offsets;
    this.text = offsets.text();
  }

  /** Returns the offset in the original. */
  original(offset: number): number {
    return this.#offsets.original(offset);
  }

  /** Returns the offset of what is, or replaced, the character at an offset of the original. */
  plain(offset: number): number {
    return this.#offsets.plain(offset);
  }
}
