import { codeAt } from '../text/characters.js';
import { afterElements, skipGap } from '../text/gaps.js';
import { isGap, type Key, maxSpaces } from './key.js';
import { quoteBefore } from '../text/quotes.js';
import type { Reader } from '../text/reader.js';

const equals = 61;
const colon = 58;
const above = 62;
const percent = 37;
const hyphen = 45;
const brace = 123;
const opening = 40;
const closing = 41;
const slash = 47;
const lineFeed = 10;
const digit0 = 48;
const letterX = 120;

/** A sign between a name and a value. */
export interface Sign {
  readonly start: number;
  readonly end: number;
  readonly isColon: boolean;
}

export const signAt = (reader: Reader, index: number): Sign | undefined => {
  const { text } = reader;
  const code = codeAt(text, index);
  if (code === colon || code === equals) return { start: index, end: index + 1, isColon: code === colon };
  if (code === hyphen) return { start: index - 1, end: index + 1, isColon: false };
  const start = index - 2;
  if (codeAt(text, start) === percent && start >= reader.barrier) {
    return { start, end: index + 1, isColon: (code | 32) === 97 };
  }
  const escape = /\\+u003[ad]$/i.exec(text.slice(Math.max(reader.barrier, index - 12), index + 1));
  return escape === null
    ? undefined
    : { start: index + 1 - escape[0].length, end: index + 1, isColon: (code | 32) === 97 };
};

/** Returns the end of the name of a sign: before `:=` and `?:`, closing brackets, emphasis, spaces and a quote. */
export const endOfName = (reader: Reader, index: number): number | undefined => {
  const { text, barrier } = reader;
  let end = index;
  const before = codeAt(text, end - 1);
  if (codeAt(text, index) === equals && (before === colon || before === 63 || before === 43)) end -= 1;
  while (end > barrier && index - end < maxSpaces && isGap(codeAt(text, end - 1))) end -= 1;
  // The end of the element around the name.
  if (codeAt(text, end - 1) === above && codeAt(text, index) === colon) {
    end -= /(?:<\/\w{1,8}>){1,3}$/.exec(text.slice(Math.max(barrier, end - 36), end))?.[0].length ?? 0;
  }
  // The brackets of an array in C.
  if (codeAt(text, end - 1) === 91 && codeAt(text, end) === 93 && end - 1 > barrier) end -= 1;
  // PostgreSQL prints `(name)=(value)`.
  if (codeAt(text, end - 1) === closing && reader.code(index + 1) === opening) end -= 1;
  else if (codeAt(text, end - 1) === closing && codeAt(text, index) === colon) end = beforeRemark(reader, end);
  end = quoteBefore(reader, end);
  return end > barrier ? end : undefined;
};

const maxRemark = 48;

/** Returns the end of the name in `password (case sensitive): …`. */
const beforeRemark = ({ text, barrier }: Reader, end: number): number => {
  const near = text.slice(Math.max(barrier, end - maxRemark), end);
  return end - (/ \([^()\n"'`]{1,40}\)$/.exec(near)?.[0].length ?? 0);
};

/** Matches what `var_dump` prints before a string. */
const dumped = /^\n {1,40}string\(\d{1,4}\) (?=")/;

export const startOfValue = (reader: Reader, sign: Sign, key: Key): number | undefined => {
  const next = reader.code(sign.end);
  const isArrow = next === above && !sign.isColon;
  // `name:: …` has a value in base64.
  const isEncoded = next === colon && sign.isColon && reader.code(sign.end + 1) === 32;
  if (isEncoded) return sign.end + 2;
  // The scheme of an address, as in `Password for 'https://joe@…'`.
  if (sign.isColon && next === slash && reader.code(sign.end + 1) === slash) return undefined;
  const comparison =
    next === equals && !sign.isColon ? /^=={0,1} {1,4}(?=["'])/.exec(reader.slice(sign.end, sign.end + 8)) : null;
  if (comparison !== null) return sign.end + comparison[0].length;
  if (!isArrow && (next === equals || next === colon || next === above)) return undefined;
  // The default in `${PASSWORD:-…}`.
  const isDefault = next === hyphen && sign.isColon && codeAt(reader.text, key.start - 1) === brace;
  const isInBrackets = next === opening && codeAt(reader.text, sign.start - 1) === closing;
  const gap = skipGap(reader, sign.end + (isArrow || isDefault || isInBrackets ? 1 : 0));
  const direct = sign.isColon ? afterTag(reader, afterElements(reader, gap)) : afterAddress(reader, gap);
  const start = afterWrapper(reader, direct);
  if (!isArrow || reader.code(start) !== lineFeed) return start;
  const type = dumped.exec(reader.slice(start, start + 64));
  return type === null ? start : start + type[0].length;
};

/** Returns the offset behind the address that a debugger prints before a string. */
const afterAddress = (reader: Reader, from: number): number =>
  reader.code(from) === digit0 && reader.code(from + 1) === letterX
    ? from + (/^0x[\da-f]{1,16} (?=")/.exec(reader.slice(from, from + 20))?.[0].length ?? 0)
    : from;

/** Matches the type around a string on the next line, as Rust prints it, around bytes in settings of Qt, and around an option of Scala. */
const wrapper = /^(?:[A-Z]\w{0,24}\(\r?\n {0,80}(?=")|(?:@\w{1,16}|Some|Just)\((?=[^\s()"']{4,512}\)))/;
const at = 64;

const afterWrapper = (reader: Reader, from: number): number => {
  const first = reader.code(from);
  if (first !== at && (first < 65 || first > 90)) return from;
  return from + (wrapper.exec(reader.slice(from, from + 540))?.[0].length ?? 0);
};

/** Returns the offset behind an anchor or a tag of YAML. */
const afterTag = (reader: Reader, from: number): number => {
  const first = reader.code(from);
  if (first !== 38 && first !== 33) return from;
  return from + (/^(?:&[\w-]{1,32}|!{1,2}\w{1,16}) (?=\S)/.exec(reader.slice(from, from + 36))?.[0].length ?? 0);
};
