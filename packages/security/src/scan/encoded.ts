/** A stretch that says something else once it is decoded. */
export interface Encoded {
  readonly start: number;
  readonly end: number;
  readonly decoded: string;
}

const minLength = 24;
const maxLength = 8192;
/** As much of a line is decoded together. */
const maxLine = 2000;
const reach = 100;
const minPrintable = 0.95;

/** Stretches of base64, hexadecimal, character references and percent signs that are text. */
export const findEncoded = (text: string): readonly Encoded[] => [
  ...decodeAll(text, /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,8192}={0,2}/g, 'base64'),
  ...decodeAll(text, /(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}){20,4096}/g, 'hex'),
  ...decodeLines(text, '&#', (line) =>
    line.replace(/&#(?:x([0-9a-f]{2,5})|(\d{2,6}));/gi, (_, hex?: string, decimal?: string) =>
      characterOf(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)),
    ),
  ),
  ...decodeLines(text, '%20', (line) =>
    line.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => characterOf(Number.parseInt(hex, 16))),
  ),
];

const characterOf = (code: number): string => (code < 0x11_0000 ? String.fromCodePoint(code) : ' ');

const decodeLines = (text: string, sign: string, decode: (line: string) => string): readonly Encoded[] => {
  const found: Encoded[] = [];
  let place = text.indexOf(sign);
  while (place !== -1) {
    const start = Math.max(0, place - reach);
    const end = Math.min(text.length, place + maxLine);
    found.push({ start: place, end: Math.min(end, text.length), decoded: decode(text.slice(start, end)) });
    place = text.indexOf(sign, end);
  }
  return found;
};

const decodeAll = (text: string, pattern: RegExp, encoding: 'base64' | 'hex'): readonly Encoded[] => {
  const found: Encoded[] = [];
  for (const { 0: stretch, index } of text.matchAll(pattern)) {
    if (stretch.length < minLength || stretch.length > maxLength + 2) continue;
    const decoded = Buffer.from(stretch, encoding).toString('utf8');
    if (isProse(decoded)) found.push({ start: index, end: index + stretch.length, decoded });
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
