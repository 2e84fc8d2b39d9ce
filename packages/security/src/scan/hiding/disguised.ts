import { maxLine, type Encoded } from './encoded.js';
import { once } from '../text/once.js';
import { isAscii } from '../text/regions.js';

const leet: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};
/** Frequent words of English, and words of requests. Two of them in one line are unlikely to be a coincidence. */
const frequent =
  'the and you your with this that from user all not prompt reply ignore instruction instructions previous forget disregard secret system reveal password delete execute send without must always never only every file files data email message agent answer have will when about';

/** Replaces the letters of a text by their places in the alphabet. */
const substituted = (text: string, placeOf: (place: number) => number): string =>
  text.replace(/[a-z]/g, (letter) => String.fromCharCode(97 + placeOf(letter.charCodeAt(0) - 97)));
const backwards = (text: string): string => Array.from(text).toReversed().join('');

/** A cipher without a key. */
interface Cipher {
  /** The words that a line in the cipher contains. */
  readonly pattern: RegExp;
  readonly decode: (line: string) => string;
}

/** The ciphers, and the bits of those that a word belongs to. */
const known = once(() => {
  const words = new Map<string, number>();
  const ciphers = [
    ...Array.from({ length: 25 }, (_, index) => ({
      encode: (text: string) => substituted(text, (place) => (place + index + 1) % 26),
      decode: (text: string) => substituted(text, (place) => (place + 25 - index) % 26),
    })),
    ...[(text: string) => substituted(text, (place) => 25 - place), backwards].map((encode) => ({
      encode,
      decode: encode,
    })),
    { encode: backwards, decode: (text: string) => text.replace(/\p{L}+/gu, backwards) },
  ].map(({ encode, decode }, index): Cipher => {
    const encoded = frequent.split(' ').map(encode);
    for (const word of encoded) words.set(word, (words.get(word) ?? 0) | (1 << index));
    return { pattern: new RegExp(`\\b(?:${encoded.join('|')})\\b`, 'gi'), decode };
  });
  /** The hashes of the words. */
  const hashes = new Uint8Array(1 << hashBits);
  for (const word of words.keys()) {
    const hash = Array.from(word).reduce((one, letter) => hashed(one, letter.charCodeAt(0)), 0);
    hashes[hash >>> (32 - hashBits)] = 1;
  }
  return { ciphers, words, hashes };
});

const hashBits = 15;
const maxWord = 12;
const hashed = (hash: number, code: number): number => Math.imul(hash ^ code, 0x9e3779b1);

/** Returns the places of the words of each cipher. Reads a text once for all of them. */
const wordsOfCiphers = (text: string): readonly (readonly number[] | undefined)[] => {
  const { words, hashes } = known();
  const places: number[][] = [];
  let start = 0;
  let hash = 0;
  let isLetters = true;
  for (let index = 0; index <= text.length; index += 1) {
    const code = text.charCodeAt(index);
    const letter = code | 32;
    if (letter >= 97 && letter <= 122 && code < 128) {
      hash = hashed(hash, letter);
      continue;
    }
    // Digits and low lines belong to a word.
    if ((code >= 48 && code <= 57) || code === 95) {
      isLetters = false;
      continue;
    }
    const length = index - start;
    if (isLetters && length > 2 && length <= maxWord && hashes[hash >>> (32 - hashBits)] === 1) {
      const bits = words.get(text.slice(start, index).toLowerCase()) ?? 0;
      for (let place = 0; bits >>> place !== 0; place += 1) {
        if (((bits >>> place) & 1) === 1) (places[place] ??= []).push(start);
      }
    }
    start = index + 1;
    hash = 0;
    isLetters = true;
  }
  return places;
};

const leetWord =
  /(?<![\w@$])(?=[a-z]*[013457@$])[a-z013457@$]*[a-z][013457@$]{1,2}[a-z][a-z013457@$]*|[013457][a-z]{2}\w*/gi;

/** Minimum number of words of a line with digits in place of letters. */
const minLeet = 3;
/** 1 for letters, and 2 for the digits and signs that stand for letters. */
const leetKinds = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return /[a-z]/i.test(character) ? 1 : Object.hasOwn(leet, character) ? 2 : 0;
});

/** Returns the places of words with digits in place of letters, in lines that may have enough of them. */
const leetPlaces = (text: string): readonly number[] => {
  const places: number[] = [];
  let start = 0;
  while (start < text.length) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 ? text.length : feed;
    // Each of the words has such a digit before a letter.
    let pairs = 0;
    let isDigit = 0;
    for (let index = start; index < end; index += 1) {
      const code = text.charCodeAt(index);
      const kind = code < 128 ? (leetKinds[code] as number) : 0;
      pairs += isDigit & kind;
      isDigit = kind >> 1;
    }
    if (pairs >= minLeet) {
      const line = text.slice(start, end);
      if (line.length > maxLine || line.split(' ').length <= pairs * maxPlainWords) {
        for (const { index } of line.matchAll(leetWord)) places.push(start + index);
      }
    }
    start = end + 1;
  }
  return places;
};

/** Letters that look like upside-down ones, and what they look like. */
const upturned: ReadonlyMap<string, string> = new Map(
  "ɐa qb ɔc pd ǝe ɟf ƃg ɥh ᴉi ıi ɾj ʞk ɯm un dp bq ɹr ʇt nu ʌv ʍw ʎy ˙. ',"
    .split(' ')
    .map((pair): [string, string] => [pair.charAt(0), pair.charAt(1)]),
);
const upturnedLetter = /[ɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎ]/g;

/** A letter that forms a flag with another one, but is alone. */
const letterOfFlag = /(?<!\ud83c[\udde6-\uddff])\ud83c[\udde6-\uddff](?!\ud83c[\udde6-\uddff])/g;
const firstOfFlags = 0x1f1e6;

/** Decodes letters of flags, which blanks or invisible characters keep apart. */
const withoutFlags = (line: string): string => {
  const said = line
    .replace(letterOfFlag, (letter) => String.fromCharCode(97 + (letter.codePointAt(0) ?? 0) - firstOfFlags))
    .replace(/\p{Cf}/gu, '');
  return /(?:[a-z] ){4}/.test(said) ? said.replace(/(?<=[a-z]) (?=[a-z])/g, '').replace(/ {2,}/g, ' ') : said;
};

/** Maximum number of words per word of a cipher. In English, every third word is frequent. */
const maxWordsPerCipher = 5;

/** Whether a line has at least two different words of a cipher, and few others. */
const isWritten = (line: string, pattern: RegExp): boolean => {
  const found = line.match(pattern) ?? [];
  const words = line.match(/[a-z]{2,}/gi)?.length ?? 0;
  return words <= found.length * maxWordsPerCipher && new Set(found.map((one) => one.toLowerCase())).size > 1;
};

const rotation = /\brot-?13\b/gi;

/** Whether most letters of a line are written from right to left, so that nothing turns them. */
const isRightToLeft = (line: string): boolean =>
  (line.match(/[\u0590-\u08ff]/g)?.length ?? 0) * 2 > (line.match(/\p{L}/gu)?.length ?? 0);

const turned = /[\u202b\u202e\u2067]([^\n\u202c\u2069]{8,2000})/g;
/** Maximum number of words per disguised word. Lines of hashes contain a few such words among many others. */
const maxPlainWords = 4;

/** Finds lines in ROT13, reversed or upside down, and lines with digits or letters of flags in place of letters. */
export const findDisguised = (text: string): readonly Encoded[] => {
  const found: Encoded[] = [];
  const placesOf = (pattern: RegExp): readonly number[] => Array.from(text.matchAll(pattern), ({ index }) => index);
  const add = (
    places: readonly number[],
    least: number,
    decode: (line: string) => string,
    isMeant = least < 3,
  ): void => {
    let end = -1;
    for (const [index, place] of places.entries()) {
      if (place < end) continue;
      const start = Math.max(place - maxLine, text.lastIndexOf('\n', place) + 1);
      const feed = text.indexOf('\n', place);
      end = Math.min(feed === -1 ? text.length : feed, place + maxLine);
      const last = places[index + least - 1];
      const words = least > 2 ? text.slice(start, end).split(' ').length : 0;
      let disguised = 0;
      while ((places[index + disguised] ?? end) < end) disguised += 1;
      if (last !== undefined && last < end && words <= disguised * maxPlainWords) {
        found.push({ start, end, decoded: decode(text.slice(start, end)), isMeant });
      }
    }
  };
  add(placesOf(rotation), 1, (line) => substituted(line.toLowerCase(), (place) => (place + 13) % 26));
  for (const [index, places = []] of wordsOfCiphers(text).entries()) {
    const { pattern, decode } = known().ciphers[index] as Cipher;
    if (places.length > 1) add(places, 2, (line) => (isWritten(line, pattern) ? decode(line.toLowerCase()) : ''));
  }
  if (!isAscii(text)) {
    const upright = (line: string): string =>
      Array.from(line.toLowerCase(), (one) => upturned.get(one) ?? one)
        .toReversed()
        .join('');
    add(placesOf(upturnedLetter), 6, upright, true);
    if (text.includes('\ud83c')) add(placesOf(letterOfFlag), 12, withoutFlags, true);
  }
  // A direction override displays letters in reverse order.
  for (const { 0: match, 1: line = '', index } of text.matchAll(turned)) {
    if (isRightToLeft(line)) continue;
    found.push({
      start: index,
      end: index + match.length,
      decoded: Array.from(line).toReversed().join(''),
      isMeant: true,
    });
  }
  add(leetPlaces(text), minLeet, (line) =>
    line.replace(/(?<=[a-z013457@$])[013457@$]|[013457@$](?=[a-z])/gi, (sign) => leet[sign] ?? sign),
  );
  return found;
};
