import { base64, is } from './characters.js';
import type { Secret } from './finder.js';
import type { Reader } from './reader.js';

const hyphen = 45;
const maxLabel = 48;
/** A key of 16,384 bits is about 13,000 characters long. */
const maxBody = 16_384;
const minRun = 24;

/** The body of a private key in PEM. Looked for at the `B` of `-----BEGIN`. */
export const findPrivateKey = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const written = text.slice(index, index + 6);
  if (!'BEGIN '.startsWith(written)) return undefined;
  if (reader.waits(index + written.length, index)) return undefined;
  if (written.length < 6 || !text.startsWith('-----', index - 5)) return undefined;
  const labelEnd = text.slice(index, index + maxLabel).indexOf('-----');
  if (labelEnd === -1) {
    reader.waits(Math.min(text.length, index + maxLabel), index);
    return undefined;
  }
  if (!text.slice(index, index + labelEnd).includes('PRIVATE KEY')) return undefined;
  const start = index + labelEnd + 5;
  const { end, longest } = readBody(text, start);
  if (end < start + maxBody && reader.waits(end, index)) return undefined;
  return longest < minRun ? undefined : { kind: 'private-key', start, end };
};

/** As far as it can be the body of a key: lines of base64, also in quotes and with escapes, up to the closing line. */
const readBody = (text: string, start: number): { readonly end: number; readonly longest: number } => {
  const limit = Math.min(text.length, start + maxBody);
  let longest = 0;
  let run = 0;
  let end = start;
  while (end < limit) {
    const code = text.charCodeAt(end);
    if (is(code, base64)) {
      run += 1;
      if (run > longest) longest = run;
    } else {
      if (code === hyphen && text.startsWith('-----', end)) break;
      if (!isFiller(code)) break;
      run = 0;
    }
    end += 1;
  }
  return { end, longest };
};

/** White space, escapes, quotes, and what the headers of old formats are written with. */
const isFiller = (code: number): boolean =>
  code === 32 ||
  (code >= 9 && code <= 13) ||
  code === 92 ||
  code === 34 ||
  code === 39 ||
  code === 58 ||
  code === 44 ||
  code === 45 ||
  code === 46 ||
  code === 40 ||
  code === 41;
