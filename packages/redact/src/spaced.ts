import { is, key as keyClass, stop, word } from './characters.js';
import { isMixed, readKey, valueOf, type Key } from './assignment.js';
import { keyStrength, maxKeyLength, mayEndKey, mayEndSpacedKey } from './key-name.js';
import { quoteAt } from './quotes.js';
import type { Reader } from './reader.js';
import type { Secret } from './replace.js';
import { looksRandom } from './value.js';

const maxColumns = 40;
const hyphen = 45;
const identified = /\bIDENTIFIED (?:WITH '?\w{1,40}'? )?BY(?: PASSWORD)?$/i;
/** Matches commands whose arguments are a name and a value. */
const directive =
  /(?:^|\s)(?:ENV|setx|setenv|configure set|config set|secrets? set|(?:machine|default) (?:\S{1,80} )?login \S{1,80}|^\s*login \S{1,80})\s{1,8}$/;

/** Tests quickly whether {@link directive} may match. */
const mayBeDirective = (near: string): boolean => /[Vvxt]\s{1,8}$/.test(near.slice(-9)) || near.includes('login');

/** Finds the value of `password hunter2`, as in `.netrc`, configuration files, tables and SQL. Called for the space. */
export const findSpaced = (reader: Reader, index: number): Secret | undefined => {
  const { text, barrier } = reader;
  if (!mayEndSpacedKey(text, index)) {
    return text.charCodeAt(index - 1) === 89 ||
      (text.charCodeAt(index - 1) === 121 && text.charCodeAt(index - 2) === 98)
      ? findIdentifiedBy(reader, index)
      : undefined;
  }
  const key = readKey(reader, index, index);
  if (key === undefined || text.charCodeAt(key.start) === hyphen) return undefined;
  const { start, strength } = key;
  const before = reader.before(start);
  const valueStart = reader.skipSpaces(index, maxColumns);
  const near = text.slice(Math.max(barrier, start - 100), start);
  const isQuoted = quoteAt(reader, valueStart) !== undefined;
  if (!isQuoted && is(reader.code(valueStart), stop)) return undefined;
  if (mayBeDirective(near) && directive.test(near)) {
    return valueOf(reader, key, valueStart, { isColon: true, isLiteral: true });
  }
  if (reader.matches('is ', valueStart)) return findStated(reader, key, valueStart + 3);
  const isColumn = valueStart > index + 1 || text.charCodeAt(index) === 9;
  const isLine = Number.isNaN(before) || before === 10 || before === 13 || isIndented(near);
  if (strength === 'weak' || (!isQuoted && !isColumn && !isLine)) return undefined;
  return chosen(reader, valueOf(reader, key, valueStart, { isColon: true, isLiteral: true }), !isQuoted);
};

/** Whether the text since the beginning of the line is white space. */
const isIndented = (near: string): boolean => {
  const lineFeed = near.lastIndexOf('\n');
  return lineFeed !== -1 && near.slice(lineFeed).trim() === '';
};

/** Returns the value unless it may be a word of a sentence. Without quotes, it must also end its line. */
const chosen = (reader: Reader, found: Secret | undefined, endsLine: boolean): Secret | undefined => {
  if (found === undefined) return undefined;
  const value = reader.text.slice(found.start, found.end);
  if (!isMixed(value, { isQuoted: false }) && !looksRandom(value)) return undefined;
  const next = reader.code(reader.skipSpaces(found.end, 4));
  return endsLine && !Number.isNaN(next) && next !== 10 && next !== 13 && next !== 92 ? undefined : found;
};

/** Finds the value of a statement such as `the password is hunter2`. */
const findStated = (reader: Reader, key: Key, start: number): Secret | undefined => {
  const found = valueOf(reader, key, start, { isColon: true });
  return found === undefined ? undefined : chosen(reader, trimmed(reader, found), false);
};

const trimmed = (reader: Reader, found: Secret): Secret => {
  const isStop = /[.!?]$/.test(reader.text.slice(found.end - 1, found.end));
  return isStop && found.end - found.start > 6 ? { ...found, end: found.end - 1 } : found;
};

const findIdentifiedBy = (reader: Reader, index: number): Secret | undefined => {
  if (!identified.test(reader.text.slice(Math.max(reader.barrier, index - 70), index))) return undefined;
  const start = reader.skipSpaces(index, 4);
  if (quoteAt(reader, start) === undefined) return undefined;
  const key: Key = { name: 'password', strength: 'strong', start: index, isQuoted: false, isTight: false };
  return chosen(reader, valueOf(reader, key, start, { isColon: true, isLiteral: true }), false);
};

/** Finds the value in the next table cell or the next argument. Called for `|`, or for a comma after a quote. */
export const findNeighbor = (reader: Reader, index: number): Secret | undefined => {
  const { text, barrier } = reader;
  let end = index;
  while (end > barrier && index - end < maxColumns && text.charCodeAt(end - 1) === 32) end -= 1;
  const last = text.charCodeAt(end - 1);
  if (last === 34 || last === 39 || last === 96) end -= 1;
  if (!mayEndKey(text, end)) return undefined;
  const floor = Math.max(barrier, end - maxKeyLength - 1);
  let start = end;
  while (start > floor && is(text.charCodeAt(start - 1), keyClass)) start -= 1;
  const name = text.slice(start, end);
  if (reader.remember(name, keyStrength) !== 'strong') return undefined;
  const valueStart = reader.skipSpaces(index + 1, maxColumns);
  const isCell = text.charCodeAt(index) === 124;
  if (!isCell && quoteAt(reader, valueStart) === undefined) return undefined;
  const found = valueOf(reader, { name, strength: 'strong', start, isQuoted: true, isTight: false }, valueStart, {
    isColon: true,
  });
  if (found === undefined) return undefined;
  const value = text.slice(found.start, found.end);
  if (looksRandom(value)) return found;
  const next = reader.code(isCell ? reader.skipSpaces(found.end, maxColumns) : reader.skipSpaces(found.end + 1, 4));
  const closes = isCell ? next === 124 : next === 41 || next === 93;
  return closes && isMixed(value, { isQuoted: false }) && !/^[a-z]+\d{0,2}$/i.test(value) ? found : undefined;
};

const named = /<(?:name|key|\w{1,20}:name)>\s*([\w.$ -]{2,64})\s*<\/(?:name|key|\w{1,20}:name)>\s*<\w{1,20}$/i;

/** Finds the content of `<password>…</password>`, or of a value element after a name element. Called for the `>`. */
export const findElement = (reader: Reader, index: number): Secret | undefined => {
  const { text, barrier } = reader;
  const floor = Math.max(barrier, index - maxKeyLength);
  let start = index;
  while (start > floor && is(text.charCodeAt(start - 1), keyClass)) start -= 1;
  if (text.charCodeAt(start - 1) === 58) {
    start -= 1;
    while (start > floor && is(text.charCodeAt(start - 1), word)) start -= 1;
  }
  if (text.charCodeAt(start - 1) !== 60 || start === index) return undefined;
  const element = text.slice(start, index);
  const isNamed = /^(?:value|string)$/i.test(element);
  const name = isNamed ? named.exec(text.slice(reader.floor(index), index))?.[1] : element.replace(/^.*:/, '');
  if (
    name === undefined ||
    (!isNamed && !mayEndKey(name, name.length)) ||
    reader.remember(name, keyStrength) === undefined
  ) {
    return undefined;
  }
  let end = index + 1;
  while (end < index + 513 && !Number.isNaN(reader.code(end)) && reader.code(end) !== 60 && reader.code(end) !== 10) {
    end += 1;
  }
  if (!reader.matches(`</${element}>`, end)) return undefined;
  const value = text.slice(index + 1, end);
  if (value.length < 4 || /\s/.test(value.trim()) || value.includes(reader.replacement)) return undefined;
  const isChosen = isMixed(value, { isQuoted: true }) || looksRandom(value) || isNamed;
  return isChosen && !/^[$%{@]|example|your/i.test(value) ? { kind: 'element', start: index + 1, end } : undefined;
};
