import { fromBase85, fromBraille, fromMorse } from './letter-codes.js';
import { charactersOf, isMember, runsOf, type Region } from '../text/regions.js';

/** An encoded span and its decoded text. */
export interface Encoded extends Region {
  readonly decoded: string;
  /** Whether only deliberate messages have this encoding, so that any request in the span counts. */
  readonly isMeant?: boolean | undefined;
  /** Whether the escapes are of letters, which need none, and spell a sentence. */
  readonly isNeedless?: boolean | undefined;
  /** Whether the text is that of data, in which a command is a request. */
  readonly isData?: boolean | undefined;
  /**
   * Whether the words may be a name, an address or comments of source code, so that only a certain request counts, and
   * only as suspicious.
   */
  readonly isName?: boolean | undefined;
}

const minLength = 20;
const maxLength = 8192;
/** Maximum number of characters of a line that are decoded together. */
export const maxLine = 2000;
const reach = 100;
const minPrintable = 0.95;

/**
 * Finds text in base64, base32, base85, hexadecimal, binary, Morse code, Braille, codes, escapes, entities,
 * percent-encoding, and joined strings.
 */
export const findEncoded = (text: string): readonly Encoded[] => [
  ...spans(
    text,
    base64Regions(text),
    /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{4,76}\s{0,2}){1,110}={0,2}/g,
    fromBase64,
  ).map((span) => (isSourceMap(text, span) ? { ...span, isName: true } : asData(span))),
  ...spans(text, runsOf(text, 24, base32), /(?<![A-Z2-7])[A-Z2-7]{24,4096}={0,6}/g, fromBase32),
  ...spans(
    text,
    runsOf(text, 24, hexadecimal),
    /(?<![0-9a-fA-F])(?:(?:0x)?[0-9a-fA-F]{2}(?:, |[\s,:])?){12,4096}/g,
    (span) => Buffer.from(span.replace(/0x|[\s,:]/g, ''), 'hex').toString('utf8'),
  ),
  ...spans(text, runsOf(text, 24, decimal), /(?<![01])(?:[01]{8}\s?){8,1024}/g, (span) =>
    characters(span.replace(/\s/g, '').match(/.{8}/g) ?? [], 2),
  ),
  ...spans(text, runsOf(text, 24, decimal), /(?<!\d)(?:\d{2,5}[ ,;]{1,2}){10,1000}\d{2,5}/g, (span) =>
    characters(span.match(/\d+/g) ?? [], 10),
  ),
  ...spans(text, runsOf(text, minLength, morse), /(?:[.-]{1,5}[ /|]{1,3}){10,2000}[.-]{1,5}/g, fromMorse),
  ...spans(
    text,
    anyCell.test(text) ? runsOf(text, minLength, cells) : [],
    /(?:[\u2800-\u28ff][ ,:./-]{0,3}){12,2000}/g,
    fromBraille,
  ),
  ...(text.includes('<~') ? spans(text, [{ start: 0, end: text.length }], /<~[!-uz\s]{20,8192}~>/g, fromBase85) : []),
  ...joined(text),
  ...lines(text, '&#', /&#(?:x([0-9a-f]{2,5})|(\d{2,6}));?/gi, (_, hex, decimal) =>
    characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
  ),
  // The value of a parameter is separate from its name, so that its first word is not a part of the address.
  ...lines(text, '%', /(?:%(?:25){0,3}[2-9a-f][0-9a-f])+|[=?&#](?=[^\s=?&#%]{1,40}%(?:25)?20)/gi, (codes) =>
    codes.startsWith('%') ? fromBytes(codes.replace(/%(?:25)+(?=[2-9a-f][0-9a-f])/gi, '%'), 16) : ' ',
  ),
  ...(quotedPrintable.test(text) ? lines(text, '=', /(?:=[2-9A-F][0-9A-F])+/g, (codes) => fromBytes(codes, 16)) : []),
  ...['chr(', 'Chr(', 'CHR(', 'CHAR('].flatMap((sign) =>
    lines(
      text,
      sign,
      /\bch(?:a?r|r[bw])\(\s?(?:0x([0-9a-f]{2,5})|(\d{2,6}))\s?\)\s?(?:[+.&,]|\|\|)?\s?/gi,
      (_, hex, decimal) => characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
    ),
  ),
  ...lines(text, '\\u', /\\u\{?([0-9a-f]{4,5})\}?/gi, (_, hex) => characterOf(Number.parseInt(hex ?? '', 16))),
  ...lines(text, '\\U', /\\U([0-9a-f]{8})/gi, (_, hex) => characterOf(Number.parseInt(hex ?? '', 16))),
  // Octal escapes of Latin letters begin with 1, and those of other letters with 3.
  ...['\\1', '\\3'].flatMap((sign) => lines(text, sign, /(?:\\[0-3][0-7]{2})+/g, (codes) => fromBytes(codes, 8))),
  ...lines(text, '\\x', /(?:\\x[2-9a-f][0-9a-f])+/gi, (codes) => fromBytes(codes, 16)),
];

/** Several bytes in the encoding of mails. */
const quotedPrintable = /(?:=[2-9A-F][0-9A-F]){6}/;

/** Returns a span with JSON, such as a configuration in the address of a button, as data: its texts, not its names. */
const asData = (span: Encoded): Encoded => {
  const texts = textsIn(parsed(span.decoded));
  return texts.length === 0 ? span : { ...span, decoded: texts.join('\n\n'), isMeant: false, isData: true };
};

const parsed = (text: string): unknown => {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Returns the strings of data, and the names that are sentences. */
const textsIn = (data: unknown): readonly string[] => {
  if (typeof data === 'string') return [data];
  if (typeof data !== 'object' || data === null) return [];
  const names = Array.isArray(data) ? [] : Object.keys(data).filter((name) => name.includes(' '));
  return [...names, ...Object.values(data).flatMap(textsIn)];
};

/** Whether a span is the inline source map of a compiled file. */
const isSourceMap = (text: string, { start }: Region): boolean =>
  /[#@] sourceMappingURL=data:[\w/;=-]{1,60}base64,$/.test(text.slice(Math.max(0, start - 90), start));

const base32 = charactersOf(/[A-Z2-7=]/, false);
const base64 = charactersOf(/[\w+/-]/, false);
/** Codes, with white space and the separators of lists between them. */
const hexadecimal = charactersOf(/[\da-fA-Fx\s,:;]/, true);
const decimal = charactersOf(/[\d\s,:;]/, true);
/** Base64 with white space and separators between its lines. */
const base64Lines = charactersOf(/[\w+/\s,:;=-]/, true);
const morse = charactersOf(/[-./ |]/, false);
/** Braille cells, and signs that texts in Braille share with others. */
const cells = charactersOf(/[ ,:./-]/, true);
const anyCell = /[\u2800-\u28ff]/;

/** Minimum length of a word in base64 without its padding. */
const minWord = 18;

/** Returns the regions of words and white space that contain a word which may be base64. */
const base64Regions = (text: string): readonly Region[] => {
  const regions: Region[] = [];
  let last = 0;
  for (const { start: first, end: behind } of runsOf(text, minWord, base64)) {
    if (behind <= last) continue;
    let [start, end] = [first, behind];
    while (start > 0 && isMember(base64Lines, text.charCodeAt(start - 1))) start -= 1;
    while (end < text.length && isMember(base64Lines, text.charCodeAt(end))) end += 1;
    regions.push({ start, end });
    last = end;
  }
  return regions;
};

/**
 * Decodes the matches of a pattern.
 *
 * @param regions - with all characters next to each other that a match may contain
 */
const spans = (
  text: string,
  regions: readonly Region[],
  pattern: RegExp,
  decode: (span: string) => string,
): readonly Encoded[] => {
  const found: Encoded[] = [];
  for (const region of regions) {
    for (const { 0: span, index } of text.slice(region.start, region.end).matchAll(pattern)) {
      if (span.length < minLength || span.length > maxLength + 200) continue;
      const decoded = decode(span);
      if (!isProse(decoded)) continue;
      const start = region.start + index;
      found.push({ start, end: start + span.trimEnd().length, decoded, isMeant: true });
    }
  }
  return found;
};

/** Decodes base64, also multi-line and nested. Skips words before it. */
const fromBase64 = (span: string): string => {
  const parts = span.split(/\s+/).filter((part) => part !== '');
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one), '');
  if (longest.length < minLength) return '';
  const decoded = Buffer.from(longest, 'base64').toString('utf8');
  if (/^[A-Za-z0-9+/]{24,}={0,2}$/.test(decoded)) return Buffer.from(decoded, 'base64').toString('utf8');
  if (parts.length === 1 || !isProse(decoded)) return decoded;
  const from = parts.findIndex((part) => part.length >= minLength);
  // The words of the next sentence are not lines of base64.
  const after = parts.slice(from).findIndex((part) => part.length < minLength && !part.endsWith('='));
  const lines = after === -1 ? parts.slice(from) : parts.slice(from, from + after);
  return Buffer.from(lines.join(''), 'base64').toString('utf8');
};

const alphabet32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

const fromBase32 = (span: string): string => {
  const bytes: number[] = [];
  let buffer = 0;
  let bits = 0;
  for (const character of span.replaceAll('=', '')) {
    buffer = ((buffer << 5) | alphabet32.indexOf(character)) & 0xffff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((buffer >> bits) & 255);
  }
  return Buffer.from(bytes).toString('utf8');
};

const characters = (codes: readonly string[], radix: number): string =>
  codes.map((code) => characterOf(Number.parseInt(code, radix))).join('');

const characterOf = (code: number): string => (code < 0x11_0000 ? String.fromCodePoint(code) : ' ');

/** Short string literals, as no code splits them to fit a line. */
const literals = /(["'`])[^"'`\n]{1,30}\1(?:\s{0,3}\+\s{0,3}(["'`])[^"'`\n]{1,30}\2){2,60}/g;

/** Joins string literals between plus signs, with and without spaces between them. */
const joined = (text: string): readonly Encoded[] =>
  text.includes('+')
    ? Array.from(text.matchAll(literals)).flatMap(({ 0: match, index }) =>
        ['', ' '].map((glue) => ({
          start: index,
          end: index + match.length,
          decoded: match.slice(1, -1).replace(/["'`]\s{0,3}\+\s{0,3}["'`]/g, glue),
        })),
      )
    : [];

/** Decodes escapes of bytes: `%D1%83`, `\\xd1\\x83`, `\\321\\203`. */
const fromBytes = (codes: string, radix: 8 | 16): string =>
  Buffer.from(codes.match(/[\da-f]{2,3}/gi)?.map((code) => Number.parseInt(code, radix)) ?? []).toString('utf8');

const lines = (
  text: string,
  sign: string,
  pattern: RegExp,
  decode: (codes: string, one?: string, other?: string) => string,
): readonly Encoded[] => {
  const found: Encoded[] = [];
  let place = text.indexOf(sign);
  while (place !== -1) {
    const start = Math.max(0, place - reach);
    const end = Math.min(text.length, place + maxLine);
    const line = text.slice(start, end);
    let escaped = '';
    const decoded = line.replace(pattern, (codes: string, one?: string, other?: string) => {
      const plain = decode(codes, one, other);
      escaped += plain;
      return plain;
    });
    const isMeant = isSentence(escaped);
    if (/[\p{L} ][^]*[\p{L} ]/u.test(escaped)) {
      found.push({ start: place, end, decoded: isMeant ? escaped : decoded, isMeant, isNeedless: isMeant });
    }
    place = text.indexOf(sign, end);
  }
  return found;
};

/**
 * Whether escapes spell words and the spaces between them: names and addresses have none, and letters need no escapes.
 */
const isSentence = (escaped: string): boolean =>
  escaped.split(' ').length > 3 && (escaped.match(/[a-z]/gi)?.length ?? 0) >= minLength;

/** Whether a text consists of words with spaces between them, or of a script without spaces. */
const isProse = (text: string): boolean => {
  let printable = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if ((code >= 32 && code < 127) || code === 10 || code === 9 || (code > 0xa0 && code < 0xfffd)) printable += 1;
  }
  return (
    text.length > 0 &&
    printable / text.length >= minPrintable &&
    / |[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{4}/.test(text)
  );
};
