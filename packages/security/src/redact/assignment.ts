import { is, key as keyClass, space, stop } from './characters.js';
import { keyStrength, maxKeyLength, mayEndKey, type KeyStrength } from './key-name.js';
import type { Secret } from './finder.js';
import type { Reader } from './reader.js';
import { isPlaceholder, isPublicIdentifier, looksRandom } from './value.js';

const equals = 61;
const colon = 58;
const above = 62;
const backslash = 92;
const maxSpaces = 8;
const maxQuoted = 1024;
const maxUnquoted = 512;
const maxCookie = 4096;
const maxCookieHead = 100;
const cookieHead = /^[\w!#$%&*+.^|~-]{1,80}=[^\s;"'`\\]{6,}/;

/** The name on the left of a sign. */
interface Key {
  readonly name: string;
  readonly start: number;
  readonly isQuoted: boolean;
  readonly isTight: boolean;
}

/** The value of `API_KEY=…`, `"password": "…"`, `x-api-key: …` and the like. Looked for at the sign. */
export const findAssignment = (reader: Reader, index: number): Secret | undefined => {
  const { text } = reader;
  const nameEnd = endOfName(reader, index);
  if (nameEnd === undefined || !mayEndKey(text, nameEnd)) return undefined;
  const key = readKey(reader, nameEnd, index);
  const strength = key === undefined ? undefined : keyStrength(key.name);
  if (key === undefined || strength === undefined) return undefined;
  if (reader.waits(index + 1, index)) return undefined;
  const next = text.charCodeAt(index + 1);
  const isArrow = next === above && key.isQuoted;
  if (next === equals || next === colon || (next === above && !isArrow)) return undefined;
  const start = skipSpaces(text, index + (isArrow ? 2 : 1));
  if (reader.waits(start, index)) return undefined;
  if (/^(?:set-)?cookie$/i.test(key.name)) return findCookies(reader, index, start);
  const isEnvironment = text.charCodeAt(index) === equals && key.isTight && environmentName.test(key.name);
  const value = isQuote(text, start)
    ? readQuoted(reader, index, start, isEnvironment)
    : readUnquoted(reader, index, start, key, isEnvironment);
  if (value === undefined || !isSecret(text.slice(value.start, value.end), key, strength, value, reader)) {
    return undefined;
  }
  return { kind: 'assignment', start: value.start, end: value.end };
};

const skipSpaces = (text: string, from: number): number => {
  let index = from;
  while (index < from + maxSpaces && is(text.charCodeAt(index), space)) index += 1;
  return index;
};

/** Where the name ends that the sign belongs to: over `:` of `:=`, spaces and a quote. */
const endOfName = (reader: Reader, index: number): number | undefined => {
  const { text, barrier } = reader;
  let end = index;
  const before = text.charCodeAt(end - 1);
  if (text.charCodeAt(index) === equals && (before === colon || before === 63 || before === 43)) end -= 1;
  while (end > barrier && index - end < maxSpaces && is(text.charCodeAt(end - 1), space)) end -= 1;
  const code = text.charCodeAt(end - 1);
  if (code === 34 || code === 39 || code === 96) {
    end -= 1;
    if (text.charCodeAt(end - 1) === backslash) end -= 1;
  }
  return end > barrier ? end : undefined;
};

const readKey = (reader: Reader, end: number, index: number): Key | undefined => {
  const { text, barrier } = reader;
  let start = end;
  const floor = Math.max(barrier, end - maxKeyLength - 1);
  while (start > floor && is(text.charCodeAt(start - 1), keyClass)) start -= 1;
  if (end - start > maxKeyLength || start === end) return undefined;
  return {
    name: text.slice(start, end).replace(/^[-.$]+/, ''),
    start,
    isQuoted: end < index && text.charCodeAt(end) !== 32 && text.charCodeAt(end) !== colon,
    isTight: end === index,
  };
};

interface Value {
  readonly start: number;
  readonly end: number;
  readonly isQuoted: boolean;
  /** Written as in code, where names stand for values: a list goes on or a call follows. */
  readonly isCode: boolean;
  /** `NAME=value`, as environments are written. */
  readonly isEnvironment: boolean;
}

const isQuote = (text: string, index: number): boolean => {
  const code = text.charCodeAt(index) === backslash ? text.charCodeAt(index + 1) : text.charCodeAt(index);
  return code === 34 || code === 39 || code === 96;
};

const readQuoted = (reader: Reader, index: number, from: number, isEnvironment: boolean): Value | undefined => {
  const { text } = reader;
  const isEscaped = text.charCodeAt(from) === backslash;
  if (isEscaped && reader.waits(from + 1, index)) return undefined;
  const start = from + (isEscaped ? 2 : 1);
  const quote = text.charCodeAt(start - 1);
  const limit = Math.min(text.length, start + maxQuoted);
  let end = start;
  while (end < limit) {
    const code = text.charCodeAt(end);
    if (code === 10 || code === 13) return undefined;
    if (code === quote) break;
    if (code === backslash) {
      if (isEscaped && text.charCodeAt(end + 1) === quote) break;
      end += 1;
    }
    end += 1;
  }
  end = Math.min(end, limit);
  if (end < start + maxQuoted && reader.waits(end + (isEscaped ? 1 : 0), index)) return undefined;
  return end === start + maxQuoted ? undefined : { start, end, isQuoted: true, isCode: false, isEnvironment };
};

const readUnquoted = (
  reader: Reader,
  index: number,
  start: number,
  key: Key,
  isEnvironment: boolean,
): Value | undefined => {
  const { text } = reader;
  const end = reader.endOfRun(start, stop, maxUnquoted, false);
  if (end < start + maxUnquoted && reader.waits(end, index)) return undefined;
  const next = text.charAt(end);
  const isCall = next === '(' || next === '[' || next === '<';
  if (end === start || isCall) return undefined;
  const isList = next === ',' || next === ';' || next === ')' || next === '}';
  return {
    start,
    end,
    isQuoted: false,
    isCode: isList || (text.charCodeAt(index) === equals && !key.isTight),
    isEnvironment,
  };
};

/** All of a cookie header, which has its secrets under names of its own. */
const findCookies = (reader: Reader, index: number, start: number): Secret | undefined => {
  const { text } = reader;
  const from = isQuote(text, start) ? start + 1 : start;
  const head = text.slice(from, from + maxCookieHead);
  if (from + head.length < from + maxCookieHead && reader.waits(from + head.length, index)) return undefined;
  if (!cookieHead.test(head)) return undefined;
  const limit = Math.min(text.length, from + maxCookie);
  let end = from;
  while (end < limit && !'\r\n"\'`\\'.includes(text.charAt(end))) end += 1;
  if (end < from + maxCookie && reader.waits(end, index)) return undefined;
  if (text.slice(from, end).includes(reader.replacement)) return undefined;
  return { kind: 'cookie', start: from, end };
};

const name = /^[A-Za-z_$][\w$]*$/;
const path = /^[A-Za-z_$][\w$]*(?:(?:\.|\?\.|!\.|::|->)[A-Za-z_$][\w$]*)+[!?]?$/;
const environmentName = /^[A-Z][A-Z\d_]*$/;
/** Longer ones are no names, and no passwords that people choose. */
const maxName = 128;
/** Under a name that may mean something else. */
const minWeak = 16;

const isSecret = (value: string, key: Key, strength: KeyStrength, style: Value, { replacement }: Reader): boolean => {
  const isRandom = looksRandom(value);
  if (!isRandom && (strength === 'weak' || value.length > maxName)) return false;
  if (isPlaceholder(value) || value.includes(replacement)) return false;
  const isPath = !style.isQuoted && path.test(value.slice(0, maxName));
  if (strength === 'weak') return value.length >= minWeak && !isPublicIdentifier(value) && !isPath;
  if (isRandom) return !(isPath && style.isCode);
  if (isPath || /\s/.test(value)) return false;
  if (style.isEnvironment && !style.isCode) return !/^[A-Z_]+$/.test(value);
  return value.length >= 6 && !isName(value, style) && !mentions(value, key.name) && isMixed(value, style);
};

/** What stands for a value in code: a variable, or a type. */
const isName = (value: string, { isQuoted, isCode }: Value): boolean =>
  !isQuoted && (isCode ? name : /^[A-Z][A-Za-z]+\d*$/).test(value);

/** What people choose as a password: letters with digits or signs, and no version. */
const isMixed = (value: string, { isQuoted }: Value): boolean => {
  if (/^v?\d+(?:\.\d+)*$/.test(value)) return isQuoted && !value.includes('.');
  return /\d/.test(value) ? /[a-z]/i.test(value) : /[!@$%^&*]/.test(value);
};

/** `password2`, `my-secret-1`: a value that says what it is instead of being it. */
const mentions = (value: string, name: string): boolean => {
  const lower = value.toLowerCase();
  return ['password', 'passwd', 'secret', 'token', 'key', 'credential', 'auth', name.toLowerCase()].some((one) =>
    lower.includes(one),
  );
};
