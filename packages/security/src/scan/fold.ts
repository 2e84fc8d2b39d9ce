import { isInvisible } from './characters.js';
import { likeLetter, likeSign } from './look-alikes.js';

/** A text as it reads, and where its characters come from. */
export interface Folded {
  readonly text: string;
  /** The place in the original of the folded text's character. */
  readonly at: (index: number) => number;
}

const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13) || code === 160;

/** Emphasis, which has no sound: a star in a word does not part it. */
const isMute = (code: number): boolean => code === 42 || code === 95 || code === 126;

/**
 * Folds a text to what a reader sees: small letters without accents, letters of other scripts and of other widths as the Latin
 * ones that they look like where words mix them, white space as one space, nothing invisible, no emphasis.
 */
export const fold = (text: string): Folded => {
  // Nothing grows by more than this; most texts do not grow.
  const capacity = isPlain.test(text) ? text.length : text.length * maxExpansion;
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
    // A word that a line feed parts.
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

/** The folded text alone. */
export const foldText = (text: string): string => fold(text).text;

/** Some ligatures stand for whole sentences. */
const maxExpansion = 4;

// oxlint-disable-next-line no-control-regex -- all of ASCII
const isPlain = /^[\x00-\x7f]*$/;

/** Marks that stand on the letter before them. */
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

/** Whether there is a Latin letter in the word, close by. */
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
