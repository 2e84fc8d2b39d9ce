import { isInvisible, isOfFlag, likeLetter, likeSign } from './characters.js';
import { isAscii } from './regions.js';

/** A folded text, and the origin of its characters. */
export interface Folded {
  readonly text: string;
  /** Maps an index in the folded text to the offset in the original. */
  readonly at: (index: number) => number;
}

const noBreak = 160;

/** The mark of emphasis markup, which does not separate words. */
const mute = 255;

/** The folded characters of ASCII. White space is a space. */
const foldedAscii = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 9 && code <= 13) return 32;
  if ('*_~'.includes(String.fromCharCode(code))) return mute;
  return code >= 65 && code <= 90 ? code + 32 : code;
});

/**
 * Folds a text to its visible form: lower case without accents, one space for white space, no invisible characters and
 * no emphasis. In words of mixed scripts or widths, letters become the Latin letters that they resemble.
 */
export const fold = (text: string): Folded => (isAscii(text) ? foldAscii(text) : foldAny(text));

/** Whether a hyphen and a line feed split a word. */
const splitsWord = (text: string, index: number, last: number): boolean =>
  last >= 97 && last <= 122 && text.charCodeAt(index + 1) === 10 && isLatin(text.charCodeAt(index + 2));

/* Each has lists of one kind, which engines write faster than lists of two kinds. */
const foldAscii = (text: string): Folded => {
  const units = new Uint8Array(text.length);
  const places = new Uint32Array(text.length);
  let length = 0;
  let last = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 45 && splitsWord(text, index, last)) {
      index += 1;
      continue;
    }
    const folded = foldedAscii[unit] as number;
    if (folded === mute || (folded === 32 && last === 32)) continue;
    units[length] = last = folded;
    places[length] = index;
    length += 1;
  }
  return foldedOf(text, units, places, length);
};

const foldAny = (text: string): Folded => {
  let units = new Uint16Array(text.length + maxExpansion);
  let places = new Uint32Array(units.length);
  const foldings = new Foldings();
  let length = 0;
  let last = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 128 || unit === noBreak) {
      if (unit === 45 && splitsWord(text, index, last)) {
        index += 1;
        continue;
      }
      const folded = unit === noBreak ? 32 : (foldedAscii[unit] as number);
      if (folded === mute || (folded === 32 && last === 32)) continue;
      units[length] = last = folded;
      places[length] = index;
      length += 1;
      continue;
    }
    const code = text.codePointAt(index) ?? 0;
    if (!isInvisible(code) && !isOfFlag(text, index)) {
      const { alone, amongLatin } = foldings.of(code);
      const expanded = amongLatin !== undefined && isAmongLatin(text, index) ? amongLatin : alone;
      for (let place = 0; place < expanded.length; place += 1) {
        units[length] = last = expanded.charCodeAt(place);
        places[length] = index;
        length += 1;
      }
      // The rest of the text may need as many units as it has, and those of one more character.
      if (length + text.length - index + maxExpansion > units.length) {
        units = grown(units, new Uint16Array(units.length * 2 + maxExpansion));
        places = grown(places, new Uint32Array(units.length));
      }
    }
    if (code > 65_535) index += 1;
  }
  return foldedOf(text, units, places, length);
};

const grown = <List extends Uint16Array | Uint32Array>(list: List, larger: List): List => {
  larger.set(list);
  return larger;
};

const foldedOf = (
  { length: end }: string,
  units: Uint8Array | Uint16Array,
  places: Uint32Array,
  length: number,
): Folded => ({
  text: Buffer.from(units.buffer, 0, length * units.BYTES_PER_ELEMENT).toString(
    units.BYTES_PER_ELEMENT === 1 ? 'latin1' : 'utf16le',
  ),
  at: (place) => (place < length ? (places[place] ?? end) : end),
});

/** Returns only the folded text. */
export const foldText = (text: string): string => fold(text).text;

/** Maximum expansion per character. Some ligatures represent whole phrases. */
const maxExpansion = 4;

/** Matches combining marks. */
const isMark = /^[\u0300-\u036f]$/;

/** What a character beyond ASCII becomes. A character of two units, such as an emoji, becomes the first of them. */
interface Folding {
  readonly alone: string;
  /** The Latin letter that it becomes in a word with Latin letters. */
  readonly amongLatin?: string | undefined;
}

const createFolding = (character: string): Folding => {
  const sign = likeSign(character);
  if (sign !== undefined) return { alone: sign };
  const decomposed = character.normalize('NFKD');
  const bare = decomposed.length > 1 ? decomposed.replace(/\p{M}/gu, '') : decomposed;
  const alone = isMark.test(character) ? '' : bare.toLowerCase().slice(0, maxExpansion);
  return {
    alone: Array.from(alone, (one) => one.charAt(0)).join(''),
    amongLatin: likeLetter(character)?.toLowerCase(),
  };
};

/** What the characters of one text become. Most texts have few beyond ASCII. */
class Foldings {
  readonly #known = new Map<number, Folding>();

  of(code: number): Folding {
    const known = this.#known.get(code);
    if (known !== undefined) return known;
    const folding = createFolding(String.fromCodePoint(code));
    this.#known.set(code, folding);
    return folding;
  }
}

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
