import { codeAt, is, key as keyClass } from '../text/characters.js';
import { type KeyStrength, maxKeyLength } from './key-name.js';
import type { Reader } from '../text/reader.js';

const percent = 37;
const star = 42;
const slash = 47;
const colon = 58;

/** Maximum number of spaces that align a name or a value. */
export const maxSpaces = 64;

/** The name on the left of a sign. */
export interface Key {
  readonly name: string;
  readonly strength: KeyStrength;
  readonly start: number;
  readonly isQuoted: boolean;
  /** Whether the sign directly follows the name. */
  readonly isTight: boolean;
}

/** Whether the code is `-`, `.` or `$`, which may precede a name. */
const isLead = (code: number): boolean => code === 45 || code === 46 || code === 36;

/** Whether the code is a space, `*` of emphasis or `]` of a subscript. */
export const isGap = (code: number): boolean => code === 32 || code === 9 || code === star || code === 93;

/** Whether the code belongs to a name or separates a section from it. */
const isOfSection = (code: number): boolean => is(code, keyClass) || code === colon;

/** Reads the name that ends here, of up to three words, if it may be the name of a secret. */
export const readKey = (reader: Reader, end: number, index: number): Key | undefined => {
  const { text, barrier } = reader;
  const floor = Math.max(barrier, end - maxKeyLength - 1);
  let start = end;
  while (start > floor && is(codeAt(text, start - 1), keyClass)) start -= 1;
  if (end - start > maxKeyLength || start === end) return undefined;
  let nameStart = start;
  while (nameStart < end && isLead(codeAt(text, nameStart))) nameStart += 1;
  // The option `-D` of Java has the name of a property behind it.
  if (nameStart > start && codeAt(text, nameStart) === 68) nameStart += 1;
  let name = text.slice(nameStart, end);
  // Skips the end of an encoded quote or sign before the name.
  if (codeAt(text, start - 1) === percent) name = name.replace(/^(?:22|27|2C|20|26|7B|0A)/i, '');
  let strength = reader.strengthOf(name);
  // A flag has no words before it.
  const maxWords = codeAt(text, start) === 45 ? 1 : 3;
  for (let words = 1; strength !== 'strong' && words < maxWords && codeAt(text, start - 1) === 32; words += 1) {
    const space = start - 1;
    let wordStart = space;
    while (wordStart > floor && is(codeAt(text, wordStart - 1), keyClass)) wordStart -= 1;
    if (wordStart === space) break;
    // The position in a list.
    if (/^token$/i.test(name) && /\b(?:next|previous) page$/i.test(text.slice(Math.max(barrier, space - 14), space))) {
      return undefined;
    }
    const joined = reader.strengthOf(text.slice(wordStart, end));
    if (strength === undefined && joined !== undefined) name = text.slice(wordStart, end);
    if (joined === 'strong' || strength === undefined) nameStart = wordStart;
    start = wordStart;
    strength = joined ?? strength;
  }
  if (strength === undefined && codeAt(text, start - 1) === colon && is(codeAt(text, start - 2), keyClass)) {
    // A section before the name, as in `Jwt:Key`.
    while (start - 1 > floor && isOfSection(codeAt(text, start - 1))) start -= 1;
    nameStart = start;
    name = text.slice(start, end);
    strength = reader.strengthOf(name);
  }
  if (strength === undefined) return undefined;
  return {
    name,
    strength,
    start: Math.min(nameStart, end),
    isQuoted: end < index && !isGap(codeAt(text, end)),
    isTight: end === index,
  };
};

/** Whether a name is part of that of a digest, as in the annotation `checksum/secret` of Kubernetes. */
export const isOfDigest = ({ text, barrier }: Reader, start: number): boolean =>
  codeAt(text, start - 1) === slash &&
  /(?:checksum|digest|hash|sha\d{1,3})\/$/i.test(text.slice(Math.max(barrier, start - 10), start));
