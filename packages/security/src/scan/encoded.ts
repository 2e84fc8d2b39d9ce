import type { Folded } from './fold.js';
import type { Region } from './regions.js';

/** A span that says something else once it is decoded. */
export interface Encoded extends Region {
  readonly decoded: string;
}

const minLength = 20;
const maxLength = 8192;
/** A line is decoded up to here at once. */
const maxLine = 2000;
const reach = 100;
const minPrintable = 0.95;

/** Spans of base64, base32, hexadecimal, binary, character codes, escapes, entities and percent signs that are text. */
export const findEncoded = (text: string): readonly Encoded[] => [
  ...spans(text, /(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{4,76}\s{0,2}){1,110}={0,2}/g, (span) => fromBase64(span)),
  ...spans(text, /(?<![A-Z2-7])[A-Z2-7]{24,4096}={0,6}/g, fromBase32),
  ...spans(text, /(?<![0-9a-fA-F])(?:(?:0x)?[0-9a-fA-F]{2}[\s,:]?){12,4096}/g, (span) =>
    Buffer.from(span.replace(/0x|[\s,:]/g, ''), 'hex').toString('utf8'),
  ),
  ...spans(text, /(?<![01])(?:[01]{8}\s?){8,1024}/g, (span) =>
    characters(span.replace(/\s/g, '').match(/.{8}/g) ?? [], 2),
  ),
  ...spans(text, /(?<!\d)(?:\d{2,3}[ ,;]{1,2}){10,1000}\d{2,3}/g, (span) => characters(span.match(/\d+/g) ?? [], 10)),
  ...lines(text, '&#', /&#(?:x([0-9a-f]{2,5})|(\d{2,6}));?/gi, (hex, decimal) =>
    hex === undefined ? Number(decimal) : Number.parseInt(hex, 16),
  ),
  ...lines(text, '%', /%([2-7][0-9a-f])/gi, (hex) => Number.parseInt(hex ?? '', 16)),
  ...lines(text, '\\u', /\\u\{?([0-9a-f]{4,5})\}?/gi, (hex) => Number.parseInt(hex ?? '', 16)),
  ...lines(text, '\\x', /\\x([2-7][0-9a-f])/gi, (hex) => Number.parseInt(hex ?? '', 16)),
];

const spans = (text: string, pattern: RegExp, decode: (span: string) => string): readonly Encoded[] => {
  const found: Encoded[] = [];
  for (const { 0: span, index } of text.matchAll(pattern)) {
    if (span.length < minLength || span.length > maxLength + 200) continue;
    const decoded = decode(span);
    if (isProse(decoded)) found.push({ start: index, end: index + span.trimEnd().length, decoded });
  }
  return found;
};

/** Base64, also in lines and in base64. Words before it are skipped. */
const fromBase64 = (span: string): string => {
  const parts = span.split(/\s+/).filter((part) => part !== '');
  const longest = parts.reduce((one, other) => (other.length > one.length ? other : one), '');
  if (longest.length < minLength) return '';
  const decoded = Buffer.from(longest, 'base64').toString('utf8');
  if (/^[A-Za-z0-9+/]{24,}={0,2}$/.test(decoded)) return Buffer.from(decoded, 'base64').toString('utf8');
  if (parts.length === 1 || !isProse(decoded)) return decoded;
  const from = parts.findIndex((part) => part.length >= minLength);
  return Buffer.from(parts.slice(from).join(''), 'base64').toString('utf8');
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

const lines = (
  text: string,
  sign: string,
  pattern: RegExp,
  codeOf: (one?: string, other?: string) => number,
): readonly Encoded[] => {
  const found: Encoded[] = [];
  let place = text.indexOf(sign);
  while (place !== -1) {
    const start = Math.max(0, place - reach);
    const end = Math.min(text.length, place + maxLine);
    const line = text.slice(start, end);
    let letters = 0;
    const decoded = line.replace(pattern, (_, one?: string, other?: string) => {
      const character = characterOf(codeOf(one, other));
      if (/[\p{L} ]/u.test(character)) letters += 1;
      return character;
    });
    if (letters > 1) found.push({ start: place, end, decoded });
    place = text.indexOf(sign, end);
  }
  return found;
};

/** Words with spaces between them. */
const isProse = (text: string): boolean => {
  let printable = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if ((code >= 32 && code < 127) || code === 10 || code === 9 || (code > 0xa0 && code < 0xfffd)) printable += 1;
  }
  return text.length > 0 && printable / text.length >= minPrintable && text.includes(' ');
};

/** A reading of a whole text that was disguised. */
export interface Disguise {
  readonly folded: Folded;
}

const leet: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};
/** Words that a disguised request has, in its disguise. */
const rotated = /\b(?:vtaber|qvfertneq|sbetrg|cerivbhf|vafgehpgvbaf?|cebzcg)\b/;
const reversed = /\b(?:erongi|dragersid|tegrof|snoitcurtsni|tpmorp|suoiverp)\b/;
const leetWord = /\b(?=\w*[013457@$])[a-z013457@$]{6,14}\b/;

/** The text read backwards, rotated by 13 letters, or with letters for digits, if it has a word that asks for it. */
export const disguises = (folded: Folded): readonly Disguise[] => {
  const found: Disguise[] = [];
  if (rotated.test(folded.text)) found.push({ folded: { text: rot13(folded.text), at: folded.at } });
  if (reversed.test(folded.text)) {
    const { length } = folded.text;
    found.push({
      folded: {
        text: Array.from(folded.text).toReversed().join(''),
        at: (index) => folded.at(Math.max(0, length - 1 - index)),
      },
    });
  }
  if (leetWord.test(folded.text)) {
    const plain = folded.text.replace(
      /(?<=[a-z013457@$])[013457@$]|[013457@$](?=[a-z])/g,
      (sign) => leet[sign] ?? sign,
    );
    if (plain !== folded.text && /ignore|disregard|instruction|previous|prompt|bypass/.test(plain)) {
      found.push({ folded: { text: plain, at: folded.at } });
    }
  }
  return found;
};

const rot13 = (text: string): string =>
  text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97));
