import { is, key, kindOf } from './characters.js';
import { isForeignName } from './foreign-names.js';
import { keyStrength, maxKeyLength, mayEndKey } from './key-name.js';
import { bias, nextHash, properties, weightOf, wordWeight } from './likely-weights.js';

const lineFeed = 10;
const digit = 3;

/** Whether the code ends a line or the text. */
export const isBreak = (code: number): boolean => code === lineFeed || code === 13 || Number.isNaN(code);

/** What a name of a secret makes more or less likely. */
const valueKinds = { hash: 0, random: 1, mixed: 2, word: 3 };
/** The bit of signs in the alphabet of a value. Those of lower case and capitals are their kinds. */
const signs = 4;
const hexHash = 0;
/** The alphabet of hexadecimal values of other lengths. A value has a letter, so no other alphabet has this number. */
const otherHex = 7 + 1;
const hashLengths: ReadonlySet<number> = new Set([32, 40, 64, 128]);
/** Upper bounds of the classes of lengths. */
const lengths = [9, 11, 14, 20, 28, 36, 50];

const isHexLetter = (code: number): boolean => code >= 97 && code <= 102;

/** Returns the score of the alphabet and the length of a value, and of how often its characters change. */
export const scoreOfValue = (value: string): { readonly kind: number; readonly score: number } => {
  const { length } = value;
  let [letters, digits, changes, numbers, longest, run, before, seen] = [0, 0, 0, 0, 0, 0, -1, ''];
  let score = bias;
  let isHex = true;
  for (let index = 0; index < length; index += 1) {
    const code = value.charCodeAt(index);
    const kind = kindOf(code);
    run = kind === 1 ? run + 1 : 0;
    if (run > longest) longest = run;
    if (kind === 0) {
      letters |= signs;
      if (!seen.includes(value.charAt(index))) score += weightOf(properties.sign, code);
      seen += value.charAt(index);
    } else if (kind === digit) {
      digits += 1;
      if (before !== digit) numbers += 1;
    } else letters |= kind;
    isHex &&= kind === digit || isHexLetter(code);
    if (kind !== before && !(before === 2 && kind === 1)) changes += 1;
    before = kind;
  }
  const alphabet = isHex ? (hashLengths.has(length) ? hexHash : otherHex) : letters;
  const end = numbers === 1 ? (/\d+\W?$/.exec(value)?.[0].length ?? 0) : 0;
  const size = lengths.findIndex((bound) => length < bound);
  const add = (property: number, number: number): void => {
    score += weightOf(property, (alphabet << 3) | number);
  };
  add(properties.length, size === -1 ? lengths.length : size);
  add(properties.changes, Math.min(7, Math.floor((changes / length) * 10)));
  add(properties.numbers, Math.min(4, numbers));
  add(properties.longest, Math.min(7, longest));
  add(properties.end, Math.min(5, end));
  score += weightOf(properties.digits, Math.min(8, Math.floor((digits / length) * 10)));
  score += weightOf(properties.last, before);
  const { hash, word, random, mixed } = valueKinds;
  if (isHex) return { kind: hash, score };
  return { kind: numbers < 2 ? word : changes * 10 >= length * 3 ? random : mixed, score };
};

/** Returns the code of a character beside a value: letters, digits and those beyond ASCII are alike. */
const sideOf = (code: number): number => {
  if (isBreak(code)) return lineFeed;
  if (code > 127) return 127;
  const kind = kindOf(code);
  return kind === 0 ? code : kind === digit ? 57 : 97;
};

/** Returns the score of a place: the characters around it, the nearest name of a secret, and the words before. */
export const scoreOfPlace = (before: string, after: number, kind: number): number => {
  const next = sideOf(after);
  const left = sideOf(before.charCodeAt(before.length - 1));
  const { nearest, lastName } = nearestName(before);
  // A hash below a name is often that of the value.
  const name = kind === valueKinds.hash && (nearest & 7) === onLineAbove ? 0 : nearest;
  return (
    weightOf(sideOf(before.charCodeAt(before.length - 2)), left, 1) +
    weightOf(properties.next, next) +
    weightOf(left, next, 2) +
    weightOf(properties.name, name) +
    weightOf(properties.nameOfKind, (name << 2) | kind) +
    scoreOfWords(before, lastName)
  );
};

const minWord = 2;
const maxWord = 16;

/** Returns the sum of the weights of the different words; those of the last name have another weight, too. */
const scoreOfWords = (text: string, lastName: number): number => {
  let score = 0;
  let [hash, length, before] = [0, 0, 0];
  const seen: number[] = [];
  for (let index = 0; index <= text.length; index += 1) {
    const code = index < text.length ? text.charCodeAt(index) : 0;
    const kind = kindOf(code);
    const isLetter = kind === 1 || kind === 2;
    if (length > 0 && (!isLetter || (kind === 2 && before === 1))) {
      if (length >= minWord && length <= maxWord) {
        const isLast = index - length >= lastName;
        if (!seen.includes(hash)) score += wordWeight(hash, false);
        if (isLast && !seen.includes(~hash)) score += wordWeight(hash, true);
        seen.push(hash);
        if (isLast) seen.push(~hash);
      }
      [hash, length] = [0, 0];
    }
    if (isLetter) {
      hash = nextHash(hash, code);
      length += 1;
    }
    before = kind;
  }
  return score;
};

const isName = (code: number): boolean => is(code, key);
/** Whether the code is `-`, `.` or `$`, which may surround a name. */
const isEdge = (code: number): boolean => code === 45 || code === 46 || code === 36;
/** Words that name a secret only beside other signs of one. */
const vague = /^(?:pass|key|pin|login|code)$/i;
const strengths = { none: 0, vague: 1, weak: 2, strong: 3 };
/** The distance of a name on a line above. */
const onLineAbove = 4;

/**
 * Returns the strength and the distance of the last name of a secret, as one number, and the offset of the last name of
 * any kind.
 */
const nearestName = (text: string): { readonly nearest: number; readonly lastName: number } => {
  let [onLine, above, count, at, lastEnd, lastStart, lastName] = [0, 0, 0, 0, -1, 0, text.length];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === lineFeed) {
      if (onLine > 0) above = onLine;
      [onLine, count, lastEnd] = [0, 0, -1];
      continue;
    }
    const isForeign = code > 127;
    if (!isForeign && !isName(code)) continue;
    const start = index;
    while (index + 1 < text.length && isSameRun(text.charCodeAt(index + 1), isForeign)) index += 1;
    count += 1;
    lastName = start;
    let strength = strengths.none;
    if (isForeign) {
      if (isForeignName(text.slice(Math.max(0, start - 8), index + 1))) strength = strengths.strong;
    } else {
      let [from, end] = [start, index + 1];
      while (from < end && isEdge(text.charCodeAt(from))) from += 1;
      while (end > from && isEdge(text.charCodeAt(end - 1))) end -= 1;
      strength = strengthOf(text, from, end, lastEnd === start - 1 ? lastStart : from);
      lastStart = from;
    }
    if (strength > 0) [onLine, at] = [strength, count];
    lastEnd = index + 1;
  }
  const distance = count - at;
  const near = distance < 2 ? distance : distance < 4 ? 2 : 3;
  return { nearest: onLine > 0 ? (onLine << 3) | near : above > 0 ? (above << 3) | onLineAbove : 0, lastName };
};

const isSameRun = (code: number, isForeign: boolean): boolean => (isForeign ? code > 127 : isName(code));

/** Returns the strength of a name, alone or with the word before. */
const strengthOf = (text: string, start: number, end: number, before: number): number => {
  if (end - start > maxKeyLength || end === start) return strengths.none;
  if (mayEndKey(text, end)) {
    const alone = keyStrength(text.slice(start, end));
    const joined = alone === 'strong' || before === start ? alone : (keyStrength(text.slice(before, end)) ?? alone);
    if (joined !== undefined) return strengths[joined];
  }
  return end - start <= 5 && vague.test(text.slice(start, end)) ? strengths.vague : strengths.none;
};
