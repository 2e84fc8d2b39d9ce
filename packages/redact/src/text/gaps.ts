import { is, space } from './characters.js';
import { maxSpaces } from '../names/key.js';
import type { Reader } from './reader.js';

const percent = 37;
const star = 42;
const below = 60;
export const isGapAfter = (code: number): boolean => code === 32 || code === 9 || code === star;

/** Returns the end of the spaces and emphasis before a value. */
export const skipGap = (reader: Reader, from: number): number => {
  let index = from;
  while (index < from + maxSpaces && (isGapAfter(reader.code(index)) || reader.matches('%20', index))) {
    index += reader.code(index) === percent ? 3 : 1;
  }
  return index;
};

/** Returns the end of the spaces and line feeds at an offset. */
export const skipWhiteSpace = (reader: Reader, from: number): number => {
  let index = from;
  while (index < from + maxSpaces && (reader.code(index) === 10 || is(reader.code(index), space))) index += 1;
  return index;
};

/** Matches the end of the element around a name, and the elements around its value on the same line. */
const elements =
  /^(?:<\/?(?:b|strong|em|i|u|code|kbd|samp|pre|span|tt|font|td|th|dd|dt|p|label)(?:\s[^<>\n]{0,48})?>[ \t]{0,4}){1,5}/i;

const maxElements = 160;

/** Returns the offset behind the elements of HTML before a value. */
export const afterElements = (reader: Reader, from: number): number =>
  reader.code(from) === below ? from + (elements.exec(reader.slice(from, from + maxElements))?.[0].length ?? 0) : from;

/** Whether the code is `,`, `}` or `]`. */
const isMemberEnd = (code: number): boolean => code === 44 || code === 125 || code === 93;

/** Whether only spaces follow on the line, or in the string of an object or a list in JSON. */
export const endsLine = (reader: Reader, index: number): boolean => {
  const end = reader.skipSpaces(index, 4);
  const next = reader.code(end);
  if (next === 34 && end === index) return isMemberEnd(reader.code(index + 1));
  return Number.isNaN(next) || next === 10 || next === 13 || next === 92;
};
