/** The hash of no characters. */
export const noHash = 0x811c9dc5;

/** Returns the hash of some characters and the next one. */
export const hashWith = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193);

/** Returns the hash of a span of a text. */
export const hashBetween = (text: string, start: number, end: number): number => {
  let hash = noHash;
  for (let index = start; index < end; index += 1) hash = hashWith(hash, text.charCodeAt(index));
  return hash;
};

const hashOf = (word: string): number => hashBetween(word, 0, word.length);

/** Values of words. A reader that hashes the characters of a text looks up its words without copying them. */
export class WordTable<Value> {
  readonly #words: string[] = [];
  readonly #values: Value[] = [];
  /** The number of an entry, from 1, at the place of its hash or at the next free one. */
  #places = new Uint32Array(64);

  constructor(entries: Iterable<readonly [word: string, value: Value]> = []) {
    for (const [word, value] of entries) this.add(word, value);
  }

  get size(): number {
    return this.#words.length;
  }

  get(word: string): Value | undefined {
    return this.find(word, 0, word.length, hashOf(word));
  }

  /** Returns the value of a span of a text, whose hash the caller knows. */
  find(text: string, start: number, end: number, hash: number): Value | undefined {
    const places = this.#places;
    const mask = places.length - 1;
    for (let place = spread(hash) & mask; ; place = (place + 1) & mask) {
      const number = places[place] as number;
      if (number === 0) return undefined;
      if (isSpan(text, start, end, this.#words[number - 1] as string)) return this.#values[number - 1];
    }
  }

  /** Adds a word that the table lacks. */
  add(word: string, value: Value): void {
    this.#words.push(word);
    this.#values.push(value);
    // Half of the places remain free.
    if (this.#words.length * 2 > this.#places.length) this.#grow();
    else this.#put(word, this.#words.length);
  }

  #grow(): void {
    this.#places = new Uint32Array(this.#places.length * 2);
    for (const [index, word] of this.#words.entries()) this.#put(word, index + 1);
  }

  #put(word: string, number: number): void {
    const mask = this.#places.length - 1;
    let place = spread(hashOf(word)) & mask;
    while (this.#places[place] !== 0) place = (place + 1) & mask;
    this.#places[place] = number;
  }
}

/** Mixes the upper bits of a hash into the lower ones. */
const spread = (hash: number): number => hash ^ (hash >>> 15);

/** Whether a span of a text is the word. */
export const isSpan = (text: string, start: number, end: number, word: string): boolean => {
  if (word.length !== end - start) return false;
  for (let index = 0; index < word.length; index += 1) {
    if (text.charCodeAt(start + index) !== word.charCodeAt(index)) return false;
  }
  return true;
};
