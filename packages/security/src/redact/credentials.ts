import { bearer, is, stop, word } from './characters.js';
import type { Secret } from './finder.js';
import type { Reader } from './reader.js';
import { isPlaceholder, looksRandom } from './value.js';

const slash = 47;
const at = 64;
const maxUserInfo = 512;

/** The password in `scheme://user:password@host`, or the token where there is no user. Looked for at the first colon. */
export const findUrlCredentials = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  if (!is(reader.before(index), word)) return undefined;
  if (text.charCodeAt(index + 1) !== slash) {
    reader.waits(index + 1, index);
    return undefined;
  }
  if (reader.waits(index + 2, index)) return undefined;
  if (text.charCodeAt(index + 2) !== slash) return undefined;
  const start = index + 3;
  const end = endOfUserInfo(text, start);
  if (end < start + maxUserInfo && reader.waits(end, index)) return undefined;
  if (text.charCodeAt(end) !== at) return undefined;
  const userInfo = text.slice(start, end);
  const cut = userInfo.indexOf(':');
  const value = userInfo.slice(cut + 1);
  if (value.includes(reader.replacement) || isPlaceholder(value) || (cut === -1 && !looksRandom(value))) {
    return undefined;
  }
  return { kind: 'url-credentials', start: start + cut + 1, end };
};

/** At the last `@` before the host ends would be right for browsers; here the first one ends it, as in most clients. */
const endOfUserInfo = (text: string, start: number): number => {
  const limit = Math.min(text.length, start + maxUserInfo);
  let end = start;
  while (end < limit) {
    const code = text.charCodeAt(end);
    if (code === at || code === slash || code === 63 || code === 35 || is(code, stop)) break;
    end += 1;
  }
  return end;
};

const schemes = [
  { name: 'bearer', min: 16 },
  { name: 'basic', min: 8 },
] as const;
const maxGap = 4;
const maxCredential = 8192;

/** The token after `Bearer` or `Basic`. Looked for at the scheme's first letter. */
export const findBearer = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const second = text.charCodeAt(index + 1) | 32;
  if ((second !== 97 && second !== 101 && index + 1 < text.length) || is(reader.before(index), word)) return undefined;
  for (const { name, min } of schemes) {
    const written = text.slice(index, index + name.length).toLowerCase();
    if (written !== name.slice(0, written.length)) continue;
    if (reader.waits(index + written.length, index)) return undefined;
    if (written !== name) continue;
    const start = endOfGap(text, index + name.length);
    if (reader.waits(start, index)) return undefined;
    if (start === index + name.length || start > index + name.length + maxGap) return undefined;
    const end = reader.endOfRun(start, bearer, maxCredential);
    if (end < start + maxCredential && reader.waits(end, index)) return undefined;
    const value = text.slice(start, end);
    if (value.length < min || isPlaceholder(value) || !(name === 'basic' ? isBasic(value) : isBearer(value))) {
      return undefined;
    }
    return { kind: name, start, end };
  }
  return undefined;
};

const endOfGap = (text: string, start: number): number => {
  let end = start;
  while (end <= start + maxGap && (text.charCodeAt(end) === 32 || text.charCodeAt(end) === 9)) end += 1;
  return end;
};

const isBearer = (value: string): boolean =>
  looksRandom(value) || (value.length >= 20 && /\d/.test(value) && !/^[a-z]+(?:[-_.][a-z\d]+)*$/i.test(value));

/** Base64 of `user:password`. */
const isBasic = (value: string): boolean => {
  if (!/^[\w+/-]{6,}={0,2}$/.test(value)) return false;
  return /^[\x20-\x7e]{0,255}:[\x20-\x7e]{1,}$/.test(decoded(value));
};

const decoded = (value: string): string => Buffer.from(value, 'base64').toString('latin1');
