import { codeAt, is, key, kindOf } from '../text/characters.js';
import { isForeignName, maxKeyLength, mayEndKey, type KeyStrength } from '../names/key-name.js';
import { nextHash, weightsOfWord, type WordWeights } from './likely-weights.js';

const lineFeed = 10;
const minWord = 2;
const maxWord = 16;
/** Number of words and names before the place that are retained. */
const maxPassed = 64;
/** Maximum number of lines above the value that count. */
const maxLinesAbove = 2;
/** Number of characters before one beyond ASCII that may belong to its name. */
const maxForeign = 8;

/** Tells how certain it is that the values of names are secret. */
interface Strengths {
  strengthOf(name: string): KeyStrength;
}

/** A word that has a weight. */
interface Word {
  readonly start: number;
  readonly weights: WordWeights;
}

/** A run of characters of names, or of those beyond ASCII. */
interface Name {
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly isForeign: boolean;
  /** How much it is the name of a secret, once that is known. */
  strength: number | undefined;
}

const isLetter = (kind: number): boolean => kind === 1 || kind === 2;
/** The kind of each character, and whether it may be a part of a name. */
const partOfName = 4;
const traits = Uint8Array.from({ length: 128 }, (_, code) => kindOf(code) | (is(code, key) ? partOfName : 0));
/** Whether the code is `-`, `.` or `$`, which may surround a name. */
const isEdge = (code: number): boolean => code === 45 || code === 46 || code === 36;
/** Words that name a secret only beside other signs of one. */
const vague = /^(?:pass|key|pin|login|code)$/i;
const strengths = { none: 0, vague: 1, weak: 2, strong: 3 };
export const strongest = strengths.strong;
/** The distance of a name on a line above. */
export const onLineAbove = 4;

const weightsOf = (hash: number, length: number): WordWeights | undefined =>
  length < minWord || length > maxWord ? undefined : weightsOfWord(hash);

/**
 * Reads the words and names before values. Values come in the order of the text and what is before them overlaps, so each
 * character is read once.
 */
export class PlaceReader {
  readonly #text: string;
  readonly #strengths: Strengths;
  #words: Word[] = [];
  #names: Name[] = [];
  /** The first word and the first name of the place. */
  #word = 0;
  #name = 0;
  #line = 0;
  /** The offsets behind the last three line feeds. */
  #lines: readonly number[] = [];
  #from = 0;
  #to = 0;

  constructor(text: string, strengths: Strengths) {
    this.#text = text;
    this.#strengths = strengths;
  }

  /** Moves to the place before a value: from an offset, or from two lines above. */
  move(floor: number, to: number): void {
    const isContinued = floor <= this.#to && to >= this.#to;
    if (!isContinued) {
      [this.#words, this.#names, this.#word, this.#name] = [[], [], 0, 0];
      [this.#lines, this.#to] = [[], floor];
    }
    this.#read(to);
    const from = Math.max(floor, this.#lines[maxLinesAbove] ?? 0);
    const hasMoved = from !== this.#from;
    this.#from = from;
    while ((this.#words[this.#word]?.start ?? from) < from) this.#word += 1;
    while ((this.#names[this.#name]?.end ?? to + 1) <= from) this.#name += 1;
    if (isContinued && hasMoved) this.#readCutWord();
    if (this.#word > maxPassed) this.#word -= this.#words.splice(0, this.#word).length;
    if (this.#name > maxPassed) this.#name -= this.#names.splice(0, this.#name).length;
  }

  #read(to: number): void {
    const text = this.#text;
    let [hash, length, before, start] = [0, 0, 0, -1];
    let isForeign = false;
    for (let index = this.#to; index <= to; index += 1) {
      const code = index < to ? codeAt(text, index) : 0;
      const trait = traits[code] ?? partOfName;
      const kind = trait & 3;
      if (length > 0 && (!isLetter(kind) || (kind === 2 && before === 1))) {
        const weights = weightsOf(hash, length);
        if (weights !== undefined) this.#words.push({ start: index - length, weights });
        [hash, length] = [0, 0];
      }
      if (isLetter(kind)) {
        hash = nextHash(hash, code);
        length += 1;
      }
      before = kind;
      const isPart = trait >= partOfName;
      if (start !== -1 && (!isPart || code > 127 !== isForeign)) {
        this.#names.push({ start, end: index, line: this.#line, isForeign, strength: undefined });
        start = -1;
      }
      if (isPart && start === -1) [start, isForeign] = [index, code > 127];
      if (code !== lineFeed) continue;
      this.#line += 1;
      this.#lines = [index + 1, ...this.#lines.slice(0, maxLinesAbove)];
    }
    this.#to = to;
  }

  /** Reads the rest of a word that begins before the place. */
  #readCutWord(): void {
    const text = this.#text;
    const start = this.#from;
    let before = kindOf(codeAt(text, start - 1));
    if (!isLetter(before)) return;
    let hash = 0;
    let index = start;
    for (; index <= start + maxWord; index += 1) {
      const code = index < this.#to ? codeAt(text, index) : 0;
      const kind = kindOf(code);
      if (!isLetter(kind) || (kind === 2 && before === 1)) break;
      hash = nextHash(hash, code);
      before = kind;
    }
    const weights = weightsOf(hash, index - start);
    if (weights !== undefined) this.#words.splice(this.#word, 0, { start, weights });
  }

  /** Returns the sum of the weights of the different words; those of the last name have another weight, too. */
  scoreOfWords(): number {
    const words = this.#words;
    const last = this.#name < this.#names.length ? (this.#names.at(-1)?.start ?? this.#to) : this.#to;
    let score = 0;
    for (let index = this.#word; index < words.length; index += 1) {
      const word = words[index];
      if (word === undefined || this.#isRepeated(word.weights, index)) continue;
      score += word.weights.anywhere + (word.start >= last ? word.weights.last : 0);
    }
    return score;
  }

  #isRepeated(weights: WordWeights, index: number): boolean {
    for (let later = index + 1; later < this.#words.length; later += 1) {
      if (this.#words[later]?.weights === weights) return true;
    }
    return false;
  }

  /** Returns the strength and the distance of the last name of a secret, as one number; 0 without one. */
  nearestName(): number {
    const names = this.#names;
    for (let index = names.length - 1; index >= this.#name; index -= 1) {
      const strength = this.#strengthOf(index);
      if (strength === strengths.none) continue;
      const distance = names.length - 1 - index;
      const near = distance < 2 ? distance : distance < 4 ? 2 : 3;
      return (strength << 3) | (names[index]?.line === this.#line ? near : onLineAbove);
    }
    return 0;
  }

  #strengthOf(index: number): number {
    const name = this.#names[index];
    if (name === undefined) return strengths.none;
    const text = this.#text;
    if (name.isForeign) {
      const start = Math.max(this.#from, name.start - maxForeign);
      return isForeignName(text.slice(start, name.end)) ? strengths.strong : strengths.none;
    }
    // The place may begin within the first name.
    if (index - this.#name < 2) return this.#strengthWith(name, index);
    return (name.strength ??= this.#strengthWith(name, index));
  }

  /** Returns the strength of a name, alone or with the one before. */
  #strengthWith(name: Name, index: number): number {
    const text = this.#text;
    const start = this.#startOf(name);
    let { end } = name;
    while (end > start && isEdge(codeAt(text, end - 1))) end -= 1;
    if (end - start > maxKeyLength || end === start) return strengths.none;
    if (mayEndKey(text, end)) {
      const before = index > this.#name ? this.#names[index - 1] : undefined;
      const isJoined = before?.end === name.start - 1 && before.line === name.line && !before.isForeign;
      const alone = this.#strengths.strengthOf(text.slice(start, end));
      const joined =
        alone === 'strong' || !isJoined
          ? alone
          : (this.#strengths.strengthOf(text.slice(this.#startOf(before), end)) ?? alone);
      if (joined !== undefined) return strengths[joined];
    }
    return end - start <= 5 && vague.test(text.slice(start, end)) ? strengths.vague : strengths.none;
  }

  #startOf({ start, end }: Name): number {
    let from = Math.max(start, this.#from);
    while (from < end && isEdge(codeAt(this.#text, from))) from += 1;
    return from;
  }
}
