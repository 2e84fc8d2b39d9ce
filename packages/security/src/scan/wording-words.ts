import { hashWith, noHash } from './word-table.js';

/** A word, an address, a path, an amount, a number or a sign. */
const word =
  /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|https?:\/\/[^\s)>"']+|[\w.+-]+@[\w-]+\.\w[\w.]*|[$\u20ac\u00a3]\s?\d[\d.,]*|~?\/?(?:[\w.-]+\/)+[\w.-]+|\.[a-z]\w+|[\p{L}][\p{L}'-]*|\d+|[.!?;:"\u201c{}()`<>|=,[\]]/uy;

/* What a character of ASCII begins. */
const [nothing, sign, letter, other] = [0, 1, 2, 3];
const begins = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[a-z]/.test(character)) return letter;
  if (/[!?;:"{}()`<>|=,[\]]/.test(character)) return sign;
  return /[\w.+~/$-]/.test(character) ? other : nothing;
});
/** 1 for the characters after small letters that belong to a longer word, an address or a path. */
const continues = Uint8Array.from({ length: 128 }, (_, code) =>
  /[\w'.+@:/-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Whether a word of small letters ends here. The full stop or the colon of a clause does not belong to it. */
const isPlainEnd = (text: string, end: number): boolean => {
  if (end === text.length) return true;
  const code = text.charCodeAt(end);
  if (code > 127) return false;
  if (continues[code] === 0) return true;
  return (code === 46 || code === 58) && (end + 1 === text.length || text.charCodeAt(end + 1) === 32);
};

/**
 * Calls a function with the place and the hash of each word and sign of a sentence. Only what is not a word of small letters
 * is sought with an expression.
 *
 * @param sentence - in lower case
 */
export const readWords = (
  sentence: string,
  maxWords: number,
  found: (start: number, end: number, hash: number) => void,
): void => {
  let count = 0;
  let index = 0;
  while (index < sentence.length && count < maxWords) {
    const start = index;
    const code = sentence.charCodeAt(index);
    const kind = code < 128 ? (begins[code] as number) : other;
    index += 1;
    if (kind === nothing) continue;
    let hash = hashWith(noHash, code);
    if (kind === letter) {
      for (let next = sentence.charCodeAt(index); next >= 97 && next <= 122; next = sentence.charCodeAt(index)) {
        hash = hashWith(hash, next);
        index += 1;
      }
    }
    if (kind === other || (kind === letter && !isPlainEnd(sentence, index))) {
      word.lastIndex = start;
      if (!word.test(sentence)) {
        index = start + ((sentence.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);
        continue;
      }
      index = word.lastIndex;
      hash = noHash;
      for (let place = start; place < index; place += 1) hash = hashWith(hash, sentence.charCodeAt(place));
    }
    found(start, index, hash);
    count += 1;
  }
};
