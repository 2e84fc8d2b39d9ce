import type { Key } from '../names/key.js';
import type { Reader } from '../text/reader.js';
import type { Secret } from '../text/replace.js';

const bracket = { open: 91, close: 93 };
const brace = { open: 123, close: 125 };
/** Minimum number of bytes of a key, and maximum number of characters of a list on several lines. */
const minBytes = 16;
const maxLength = 1024;
/** The codes of digits, signs of hexadecimal numbers, commas and white space. */
const isInList = (code: number): boolean =>
  (code >= 48 && code <= 57) || code === 44 || code === 32 || code === 120 || (code >= 9 && code <= 13) || isHex(code);
const isHex = (code: number): boolean => (code >= 97 && code <= 102) || (code >= 65 && code <= 70);
const byte = /^(?:\d{1,3}|0x[\da-f]{1,2})$/i;
const maxByte = 255;

/** Finds a key that is a list of its bytes, as in `"secretKey": [141, 7, …]` and `key = {0x8d, 0x07, …}`. */
export const findBytes = (reader: Reader, { strength }: Key, open: number): Secret | undefined => {
  const signs = [bracket, brace].find((each) => each.open === reader.code(open));
  if (signs === undefined || strength !== 'strong') return undefined;
  const start = open + 1;
  let end = start;
  while (end - start < maxLength && isInList(reader.code(end))) end += 1;
  if (reader.code(end) !== signs.close) return undefined;
  const parts = reader.text.slice(start, end).split(',');
  const items = parts.map((part) => part.trim()).filter((part) => part !== '');
  const isBytes = items.length >= minBytes && items.every((item) => byte.test(item) && Number(item) <= maxByte);
  return isBytes && isSpread(items.map(Number)) ? { kind: 'assignment', start, end } : undefined;
};

/** Returns whether a list in data is a key: of numbers of bytes, as text has them. */
export const isKeyOfBytes = (items: readonly unknown[]): boolean =>
  items.length >= minBytes &&
  items.every((item): item is number => Number.isInteger(item) && Number(item) >= 0 && Number(item) <= maxByte) &&
  isSpread(items);

/** Whether bytes are drawn from all of their range, and neither counted nor filled. */
const isSpread = (bytes: readonly number[]): boolean =>
  new Set(bytes).size > bytes.length / 2 &&
  Math.max(...bytes) > maxByte / 2 &&
  bytes.some((each, index) => index > 0 && each < (bytes[index - 1] ?? 0));
