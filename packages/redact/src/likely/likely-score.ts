import { codeAt, kindOf } from '../text/characters.js';
import { onLineAbove, strongest, type PlaceReader } from './likely-place.js';
import { bias, hashThreshold, minHash, minValue, properties, threshold, weightOf } from './likely-weights.js';

const lineFeed = 10;
const digit = 3;

/** Whether the code ends a line or the text. */
export const isBreak = (code: number): boolean => code === lineFeed || code === 13 || Number.isNaN(code);

/** The composition of a value, on which the meaning of a name depends. */
const compositions = { hash: 0, random: 1, mixed: 2, word: 3 };
/** The bits of a score that are the composition. */
const compositionBits = 2;
/** The bits of the alphabet of a value: its kinds of letters, signs, and others than those of hexadecimal numbers. */
const alphabetOf = { lower: 1, upper: 2, sign: 4, notHex: 8 };
const hexHash = 0;
/** The alphabet of hexadecimal values of other lengths. A value has a letter, so no other alphabet has this number. */
const otherHex = 8;
const hashLengths: ReadonlySet<number> = new Set([32, 40, 64, 128]);
/** Maximum length of the values that are scored. */
export const maxLength = 80;
/** Upper bounds of the classes of lengths. */
const lengths = [9, 11, 14, 20, 28, 36, 50, Number.POSITIVE_INFINITY];
const classOfLength = Uint8Array.from({ length: maxLength + 1 }, (_, length) =>
  lengths.findIndex((bound) => length < bound),
);

const lower = 1;
const upper = 2;
/** The kind before the first character. */
const none = 4;
/** The kind of each character, and three bits to the left its part of the alphabet. */
const traits = Uint8Array.from({ length: 128 }, (_, code) => {
  const kind = kindOf(code);
  if (kind === digit) return kind;
  const { notHex, sign } = alphabetOf;
  const part = kind === lower || kind === upper ? kind : sign;
  return kind | ((part | (code >= 97 && code <= 102 ? 0 : notHex)) << 3);
});
const signTraits = (alphabetOf.sign | alphabetOf.notHex) << 3;
/** What two kinds add: a change, and in the next bytes a number and a digit. The characters are random for a processor. */
const steps = Int32Array.from({ length: (none + 1) << 2 }, (_, pair) => {
  const [before, kind] = [pair >> 2, pair & 3];
  const change = before !== kind && !(before === upper && kind === lower) ? 1 : 0;
  return change | (kind !== digit ? 0 : before === digit ? 1 << 16 : (1 << 16) | (1 << 8));
});

const isWord = (code: number): boolean => kindOf(code) !== 0 || code === 95;

const weightIn = (alphabet: number, property: number, number: number): number =>
  weightOf(property, (alphabet << 3) | number);

/** A bit for each sign that a value may have. */
const signBits = Int32Array.from({ length: 128 }, (_, code) => {
  const place = '!#$%*+-./:=?@^_~'.indexOf(String.fromCharCode(code));
  return place === -1 ? 0 : 1 << place;
});

/** Returns the score of a value, by {@link scoreIn}, and its composition, as one number. */
export const scoreOfValue = (text: string, start: number, end: number): number => {
  const length = end - start;
  let [letters, sums, longest, run, before, signs] = [0, 0, 0, 0, none, 0];
  let score = bias;
  for (let index = start; index < end; index += 1) {
    const code = codeAt(text, index);
    const trait = traits[code] ?? signTraits;
    const kind = trait & 3;
    letters |= trait >> 3;
    sums += steps[(before << 2) | kind] ?? 0;
    run = kind === lower ? run + 1 : 0;
    longest = Math.max(longest, run);
    if (kind === 0 && (signs & (signBits[code] ?? 0)) === 0) {
      score += weightOf(properties.sign, code);
      signs |= signBits[code] ?? 0;
    }
    before = kind;
  }
  const [changes, numbers, digits] = [sums & 255, (sums >> 8) & 255, sums >> 16];
  const isHex = letters < alphabetOf.notHex;
  const alphabet = isHex ? (hashLengths.has(length) ? hexHash : otherHex) : letters & 7;
  score +=
    weightIn(alphabet, properties.length, classOfLength[length] ?? 0) +
    weightIn(alphabet, properties.changes, Math.min(7, Math.floor((changes / length) * 10))) +
    weightIn(alphabet, properties.numbers, Math.min(4, numbers)) +
    weightIn(alphabet, properties.longest, Math.min(7, longest)) +
    weightIn(alphabet, properties.end, numbers === 1 ? Math.min(5, lengthOfEnd(text, end, digits)) : 0) +
    weightOf(properties.digits, Math.min(8, Math.floor((digits / length) * 10))) +
    weightOf(properties.last, before);
  const { hash, word, random, mixed } = compositions;
  const composition = isHex ? hash : numbers < 2 ? word : changes * 10 >= length * 3 ? random : mixed;
  return (score << compositionBits) | composition;
};

/** Returns the length of the only number of a value with a sign behind it, if it ends with them. */
const lengthOfEnd = (text: string, end: number, number: number): number => {
  const last = codeAt(text, end - 1);
  if (kindOf(last) === digit) return number;
  return !isWord(last) && kindOf(codeAt(text, end - 2)) === digit ? number + 1 : 0;
};

/**
 * The most that the characters of a value add. Ids of documents, orders and traces are as random as secrets, so the place
 * must add the rest.
 */
const maxScore = 0;

const scoreIn = (value: number): number => value >> compositionBits;
const compositionIn = (value: number): number => value & ((1 << compositionBits) - 1);

/** Whether the score of a value is so high that its place may make it a secret. */
export const isPromising = (value: number): boolean =>
  scoreIn(value) >= (compositionIn(value) === compositions.hash ? minHash : minValue);

/** Returns the code of a character beside a value: letters, digits and those beyond ASCII are alike. */
const sideOf = (code: number): number => {
  if (isBreak(code)) return lineFeed;
  if (code > 127) return 127;
  const kind = kindOf(code);
  return kind === 0 ? code : kind === digit ? 57 : 97;
};

/** Returns the score of the nearest name of a secret. */
const scoreOfName = (name: number, composition: number): number =>
  weightOf(properties.name, name) + weightOf(properties.nameOfKind, (name << 2) | composition);

/** The best score of a name, by the composition of the value. */
const bestNames = Object.values(compositions).map((composition) =>
  Math.max(...Array.from({ length: (strongest + 1) << 3 }, (_, name) => scoreOfName(name, composition))),
);

/** Returns the score of the characters around a value. */
const scoreOfSides = (text: string, floor: number, start: number, after: number): number => {
  const left = sideOf(start > floor ? codeAt(text, start - 1) : Number.NaN);
  const second = sideOf(start - 1 > floor ? codeAt(text, start - 2) : Number.NaN);
  const next = sideOf(after);
  return weightOf(second, left, 1) + weightOf(properties.next, next) + weightOf(left, next, 2);
};

/**
 * Whether a value is a secret at its place: with the characters around it, the words before, and the nearest name of a
 * secret.
 *
 * @param value what {@link scoreOfValue} returns
 * @param after the code of the character behind the value
 */
export const isLikely = (
  value: number,
  { text, place }: { readonly text: string; readonly place: PlaceReader },
  floor: number,
  start: number,
  after: number,
): boolean => {
  const composition = compositionIn(value);
  place.move(floor, start);
  const score = Math.min(maxScore, scoreIn(value)) + scoreOfSides(text, floor, start, after) + place.scoreOfWords();
  const limit = composition === compositions.hash ? hashThreshold : threshold;
  if (score + (bestNames[composition] ?? 0) <= limit) return false;
  const nearest = place.nearestName();
  // A hash below a name is often that of the value.
  const name = composition === compositions.hash && (nearest & 7) === onLineAbove ? 0 : nearest;
  return score + scoreOfName(name, composition) > limit;
};
