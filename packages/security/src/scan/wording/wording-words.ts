import { hashBetween, hashWith, noHash } from '../text/word-table.js';

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
 * Reads the words and signs of a sentence in lower case, one after another. Only what is not a word of small letters is sought
 * with an expression.
 */
export class WordReader {
  /** The place of the last word, and the hash of its characters. */
  start = 0;
  end = 0;
  hash = noHash;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads the next word. Returns whether there is one. */
  next(): boolean {
    const text = this.#text;
    for (let index = this.end; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      const kind = code < 128 ? (begins[code] as number) : other;
      if (kind === nothing) continue;
      this.start = index;
      if (kind === sign) return this.#found(index + 1, hashWith(noHash, code));
      if (kind === letter) {
        let hash = hashWith(noHash, code);
        let end = index + 1;
        for (let next = text.charCodeAt(end); next >= 97 && next <= 122; next = text.charCodeAt(end)) {
          hash = hashWith(hash, next);
          end += 1;
        }
        if (isPlainEnd(text, end)) return this.#found(end, hash);
      }
      word.lastIndex = index;
      if (word.test(text)) return this.#found(word.lastIndex, hashBetween(text, index, word.lastIndex));
      // The other half of a character.
      if ((text.codePointAt(index) ?? 0) > 0xffff) index += 1;
    }
    return false;
  }

  #found(end: number, hash: number): true {
    this.end = end;
    this.hash = hash;
    return true;
  }
}
