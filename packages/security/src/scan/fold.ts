import { isInvisible } from './characters.js';
import { likeLetter, likeSign } from './look-alikes.js';
import { isAscii } from './regions.js';

/** A folded text, and the origin of its characters. */
export interface Folded {
  readonly text: string;
  /** Maps an index in the folded text to the offset in the original. */
  readonly at: (index: number) => number;
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 160;

/** Whether a character is emphasis markup, which does not separate words. */
const isMute = (code: number): boolean => code === 42 || code === 95 || code === 126;

/**
 * Folds a text to its visible form: lower case without accents, one space for white space, no invisible characters and
 * no emphasis. In words of mixed scripts or widths, letters become the Latin letters that they resemble.
 */
export const fold = (text: string): Folded => {
  // The upper bound of the folded length; most texts do not grow.
  const capacity = isAscii(text) ? text.length : text.length * maxExpansion;
  const units = new Uint16Array(capacity);
  const places = new Uint32Array(capacity);
  let length = 0;
  let last = 0;
  const add = (unit: number, place: number): void => {
    units[length] = unit;
    places[length] = place;
    length += 1;
    last = unit;
  };
  let index = 0;
  while (index < text.length) {
    const unit = text.charCodeAt(index);
    // A word that is split by a line feed.
    if (
      unit === 45 &&
      last >= 97 &&
      last <= 122 &&
      text.charCodeAt(index + 1) === 10 &&
      isLatin(text.charCodeAt(index + 2))
    ) {
      index += 2;
      continue;
    }
    if (isSpace(unit)) {
      if (last !== 32) add(32, index);
    } else if (unit < 128) {
      if (!isMute(unit)) add(unit >= 65 && unit <= 90 ? unit + 32 : unit, index);
    } else {
      const code = text.codePointAt(index) ?? 0;
      if (!isInvisible(code)) {
        const expanded = plain(text, index, String.fromCodePoint(code)).slice(0, maxExpansion);
        for (const one of Array.from(expanded, unitOf)) add(one, index);
      }
      if (code > 65_535) index += 1;
    }
    index += 1;
  }
  const folded = Buffer.from(units.buffer, 0, length * 2).toString('utf16le');
  return { text: folded, at: (place) => (place < length ? (places[place] ?? text.length) : text.length) };
};

/** Returns only the folded text. */
export const foldText = (text: string): string => fold(text).text;

/** Maximum expansion per character. Some ligatures represent whole phrases. */
const maxExpansion = 4;

/** Matches combining marks. */
const isMark = /^[\u0300-\u036f]$/;

const unitOf = (character: string): number => character.charCodeAt(0);

const plain = (text: string, place: number, character: string): string => {
  const sign = likeSign(character);
  if (sign !== undefined) return sign;
  const letter = likeLetter(character);
  if (letter !== undefined && isAmongLatin(text, place)) return letter.toLowerCase();
  if (isMark.test(character)) return '';
  const decomposed = character.normalize('NFKD');
  const bare = decomposed.length > 1 ? decomposed.replace(/\p{M}/gu, '') : decomposed;
  return bare.toLowerCase().slice(0, maxExpansion);
};

const isLatin = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);

/** Whether the word contains a Latin letter close to this place. */
const isAmongLatin = (text: string, place: number): boolean => {
  for (let distance = 1; distance <= 8; distance += 1) {
    const code = text.charCodeAt(place - distance);
    if (isLatin(code)) return true;
    if (!(code > 127)) break;
  }
  for (let distance = 1; distance <= 8; distance += 1) {
    const code = text.charCodeAt(place + distance);
    if (isLatin(code)) return true;
    if (!(code > 127)) break;
  }
  return false;
};
