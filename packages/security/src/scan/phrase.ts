/** A pattern of a request, for folded text. */
export interface Phrase {
  readonly rule: string;
  /** Whether a match alone is an attempt; other matches need a second signal. */
  readonly isStrong: boolean;
  readonly pattern: RegExp;
  /** The bits of the stems of which a text with a match contains one each, at the beginning of a word. */
  readonly needs: number;
}

/** Alternative stems that begin words of a phrase. */
export interface Stems {
  /** The source of an expression that matches one of them. */
  readonly source: string;
  readonly bit: number;
}

/** Creates a phrase from the parts of its pattern. */
export const phrase = (rule: string, isStrong: boolean, ...parts: readonly (string | Stems)[]): Phrase => ({
  rule,
  isStrong,
  pattern: new RegExp(parts.map((part) => (typeof part === 'string' ? part : part.source)).join(''), 'gu'),
  needs: parts.reduce((bits, part) => (typeof part === 'string' ? bits : bits | part.bit), 0),
});

/** Finds stems at the beginning of words in one pass, by the first two letters of a word. */
export class StemIndex {
  readonly #byLetters = new Map<number, { readonly stem: string; readonly bit: number }[]>();
  /** 1 for the hashes of the first two letters, which most words lack. */
  readonly #hashes = new Uint8Array(1 << hashBits);

  /** @param stem - folded, and of at least two characters */
  add(stem: string, bit: number): void {
    const key = keyOf(stem, 0);
    this.#hashes[hashOf(key)] = 1;
    const known = this.#byLetters.get(key);
    if (known === undefined) this.#byLetters.set(key, [{ stem, bit }]);
    else known.push({ stem, bit });
  }

  /** Returns the bits of the stems with which words of a folded text begin. */
  bitsIn(text: string): number {
    let bits = 0;
    let isInWord = false;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (!isInWord && this.#hashes[hashOf(keyOf(text, index))] === 1) {
        for (const { stem, bit } of this.#byLetters.get(keyOf(text, index)) ?? none) {
          if ((bits & bit) === 0 && text.startsWith(stem, index)) bits |= bit;
        }
      }
      // Letters beyond ASCII may begin a word: the patterns decide.
      isInWord = code >= 97 && code <= 122;
    }
    return bits;
  }
}

const none: readonly never[] = [];

const hashBits = 12;
const hashOf = (key: number): number => Math.imul(key, 0x9e3779b1) >>> (32 - hashBits);

const keyOf = (text: string, index: number): number => (text.charCodeAt(index) << 16) | text.charCodeAt(index + 1);
