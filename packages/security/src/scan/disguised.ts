import { CueIndex } from './cues.js';
import { maxLine, type Encoded } from './encoded.js';
import { isAscii } from './regions.js';

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

/** Ciphers without a key, and the words that a line in the cipher contains. */
const ciphers: readonly { readonly pattern: RegExp; readonly decode: (line: string) => string }[] = [
  ...Array.from({ length: 25 }, (_, index) => ({
    encode: (text: string) => substituted(text, (place) => (place + index + 1) % 26),
    decode: (text: string) => substituted(text, (place) => (place + 25 - index) % 26),
  })),
  ...[(text: string) => substituted(text, (place) => 25 - place), backwards].map((encode) => ({
    encode,
    decode: encode,
  })),
  { encode: backwards, decode: (text: string) => text.replace(/\p{L}+/gu, backwards) },
].map(({ encode, decode }) => ({
  pattern: new RegExp(`\\b(?:${frequent.split(' ').map(encode).join('|')})\\b`, 'gi'),
  decode,
}));

const leetWord =
  /(?<![\w@$])(?=[a-z]*[013457@$])[a-z013457@$]*[a-z][013457@$]{1,2}[a-z][a-z013457@$]*|[013457][a-z]{2}\w*/gi;

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
const cues = new CueIndex([rotation, ...ciphers.map(({ pattern }) => pattern)]);

const turned = /[\u202b\u202e\u2067]([^\n\u202c\u2069]{8,2000})/g;
/** Maximum number of words per disguised word. Lines of hashes contain a few such words among many others. */
const maxPlainWords = 4;

/** Finds lines in ROT13, reversed or upside down, and lines with digits or letters of flags in place of letters. */
export const findDisguised = (text: string): readonly Encoded[] => {
  const found: Encoded[] = [];
  const mayMatch = cues.in(text);
  const add = (pattern: RegExp, least: number, decode: (line: string) => string, isMeant = least < 3): void => {
    const places = Array.from(text.matchAll(pattern), ({ index }) => index);
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
  if (mayMatch(rotation)) add(rotation, 1, (line) => substituted(line.toLowerCase(), (place) => (place + 13) % 26));
  for (const { pattern, decode } of ciphers) {
    if (mayMatch(pattern)) add(pattern, 2, (line) => (isWritten(line, pattern) ? decode(line.toLowerCase()) : ''));
  }
  if (!isAscii(text)) {
    const upright = (line: string): string =>
      Array.from(line.toLowerCase(), (one) => upturned.get(one) ?? one)
        .toReversed()
        .join('');
    add(upturnedLetter, 6, upright, true);
    add(letterOfFlag, 12, withoutFlags, true);
  }
  // A direction override displays letters in reverse order.
  for (const { 0: match, 1: line = '', index } of text.matchAll(turned)) {
    found.push({
      start: index,
      end: index + match.length,
      decoded: Array.from(line).toReversed().join(''),
      isMeant: true,
    });
  }
  add(leetWord, 3, (line) =>
    line.replace(/(?<=[a-z013457@$])[013457@$]|[013457@$](?=[a-z])/gi, (sign) => leet[sign] ?? sign),
  );
  return found;
};
