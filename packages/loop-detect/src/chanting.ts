import { checkChantingOptions, type ChantingOptions } from './options.js';

/** Detects repetition in a growing text. */
export interface ChantingDetector {
  /** Adds the next chunk. @returns whether the text repeats itself; it stays `true` until `reset` */
  add(text: string): boolean;
  reset(): void;
}

const defaultRounds = 5;
const defaultMinChars = 400;
const defaultSentences = 10;

/** Characters that are remembered. A power of two, so that a position in the ring is found by a mask. */
const memory = 2_048;
const mask = memory - 1;
/**
 * Makes samples of 8 characters, which are compared to find a period: the 8th power is a multiple of 2^32, so that a
 * character leaves the hash after 8 others.
 */
const sampleFactor = 48;
const maxSentences = 50;
/** Minimum length of a counted sentence; shorter ones may occur any number of times. */
const minSentence = 24;
/** Chunks are read in batches of this size, because a single delta is too short to judge. */
const maxCollected = 64;

/**
 * Creates a detector for text that repeats itself. Only prose counts: code, tables, lists, headings and quotes are
 * skipped.
 *
 * The time per character is constant. The last 2,048 characters and 50 sentences are stored.
 *
 * @throws InvalidOptionError (`invalid-option`) names the option, its value and what it accepts
 *
 * @example
 * ```ts
 * const chanting = createChantingDetector();
 * chanting.add('I will now do it. '.repeat(30)); // true
 * ```
 */
export const createChantingDetector = (options: ChantingOptions = {}): ChantingDetector => {
  checkChantingOptions(options);
  return new GrowingText(options);
};

/** Collects an answer. What reads it is made for the first answer that is long enough. */
export class GrowingText implements ChantingDetector {
  readonly #options: ChantingOptions;
  /** A text shorter than this cannot repeat itself often enough. */
  readonly #minLength: number;
  #pending = '';
  #isRead = false;
  #isChanting = false;
  #reader: ProseReader | undefined;

  constructor(options: ChantingOptions) {
    const { minChars = defaultMinChars, sentences = defaultSentences } = options;
    this.#options = options;
    this.#minLength = Math.min(minChars, sentences * minSentence);
  }

  add(text: string): boolean {
    this.#pending += text;
    const enough = this.#isRead ? Math.min(maxCollected, Math.ceil(this.#minLength / 8)) : this.#minLength;
    if (this.#isChanting || this.#pending.length < enough) return this.#isChanting;
    this.#isRead = true;
    this.#reader ??= new ProseReader(this.#options);
    this.#isChanting = this.#reader.read(this.#pending);
    this.#pending = '';
    return this.#isChanting;
  }

  reset(): void {
    this.#pending = '';
    this.#isChanting = false;
    if (this.#isRead) this.#reader?.reset();
    this.#isRead = false;
  }
}

const [newline, space, backtick, tilde] = [10, 32, 96, 126];
const isBlank = (code: number): boolean => code === space || code === 9 || code === 13;
/** `.`, `!`, `?` and `。` end a sentence, as the end of a line does. */
const isSentenceEnd = (code: number): boolean =>
  code === newline || code === 46 || code === 33 || code === 63 || code === 0x3002;
/** `|`, `-`, `*`, `+`, `#`, `>`, `=`, `•` and digits begin tables, lists, headings, quotes and rules. */
const markers: ReadonlySet<number> = new Set(Array.from('|-*+#>=_•0123456789', (character) => character.charCodeAt(0)));

/** Reads the prose of a text, with white space collapsed. The first characters of a line tell what it is. */
class ProseReader {
  readonly #period: PeriodFinder;
  readonly #sentences: SentenceCounter;
  #isFenced = false;
  /** The line is not prose. */
  #isOther = false;
  #isLineStart = true;
  #fence = 0;
  #last = space;

  constructor({ rounds = defaultRounds, minChars = defaultMinChars, sentences = defaultSentences }: ChantingOptions) {
    this.#period = new PeriodFinder(rounds, minChars);
    this.#sentences = new SentenceCounter(sentences);
  }

  /** @returns whether the text repeats itself within this chunk */
  read(chunk: string): boolean {
    const period = this.#period;
    const sentences = this.#sentences;
    let last = this.#last;
    for (let index = 0; index < chunk.length; index += 1) {
      const code = chunk.charCodeAt(index);
      if (code === newline) this.#endLine();
      else if (this.#isLineStart && !this.#startLine(code)) continue;
      if (this.#isFenced || this.#isOther) continue;
      if (code > space) {
        last = code;
        if (period.next(code)) return true;
        if (!isSentenceEnd(code)) sentences.next(code);
        else if (sentences.end()) return true;
      } else if (last !== newline && (last !== space || code === newline)) {
        last = isBlank(code) ? space : code;
        if (period.next(last) || (last === newline && sentences.end())) return true;
      }
    }
    this.#last = last;
    return false;
  }

  reset(): void {
    [this.#isFenced, this.#isOther, this.#isLineStart, this.#fence, this.#last] = [false, false, true, 0, space];
    this.#period.reset();
    this.#sentences.reset();
  }

  #endLine(): void {
    if (this.#fence >= 3) this.#isFenced = !this.#isFenced;
    [this.#isOther, this.#isLineStart, this.#fence] = [false, true, 0];
  }

  /** @returns whether the character tells what the line is, rather than being a part of its indentation or its fence */
  #startLine(code: number): boolean {
    if (isBlank(code)) return false;
    if ((code === backtick || code === tilde) && this.#fence < 3) {
      this.#fence += 1;
      this.#isOther = this.#fence >= 3;
      if (!this.#isOther) return false;
    }
    this.#isOther ||= markers.has(code);
    this.#isLineStart = false;
    return true;
  }
}

/** Finds out whether a text has come to repeat its last N characters. */
class PeriodFinder {
  readonly #rounds: number;
  readonly #minChars: number;
  readonly #text = new Uint16Array(memory);
  /** Where each sample was seen last, and its hash: samples may share a place. */
  readonly #places = new Int32Array(memory).fill(-1);
  readonly #hashes = new Int32Array(memory);
  #length = 0;
  #period = 0;
  #run = 0;
  #hash = 0;

  constructor(rounds: number, minChars: number) {
    this.#rounds = rounds;
    this.#minChars = minChars;
  }

  next(code: number): boolean {
    const at = this.#length;
    this.#text[at & mask] = code;
    this.#length = at + 1;
    this.#hash = (Math.imul(this.#hash, sampleFactor) + code) | 0;
    this.#follow(at, code);
    this.#lookUp(at);
    return this.#run > 0 && this.#isLong(at);
  }

  reset(): void {
    this.#places.fill(-1);
    [this.#length, this.#period, this.#run, this.#hash] = [0, 0, 0, 0];
  }

  /** Counts how many characters in a row have come one period before, too. */
  #follow(at: number, code: number): void {
    if (this.#period === 0) return;
    if (this.#text[(at - this.#period) & mask] === code) {
      this.#run += 1;
    } else {
      this.#run = 0;
      this.#period = 0;
    }
  }

  #lookUp(at: number): void {
    const mixed = Math.imul(this.#hash, 0x9e3779b1);
    const place = (mixed ^ (mixed >>> 15)) & mask;
    if (this.#period === 0 && this.#hashes[place] === this.#hash) {
      const before = this.#places[place] as number;
      if (before >= 0 && at - before < memory - 1) this.#period = at - before;
    }
    this.#places[place] = at;
    this.#hashes[place] = this.#hash;
  }

  #isLong(at: number): boolean {
    const isEnough = this.#run + this.#period >= this.#minChars && this.#run >= (this.#rounds - 1) * this.#period;
    return isEnough && isWordy(this.#text, at, this.#period);
  }
}

/** Whether a passage has letters or digits; rules and dots may have any length. */
const isWordy = (text: Uint16Array, at: number, period: number): boolean => {
  for (let back = 0; back < Math.min(period, 200); back += 1) {
    if (/[\p{L}\p{N}]/u.test(String.fromCharCode(text[(at - back) & mask] ?? 0))) return true;
  }
  return false;
};

const emptySentence = 7;

/** Counts how often each of the last sentences has come. */
class SentenceCounter {
  readonly #limit: number;
  readonly #latest: number[] = [];
  readonly #counts = new Map<number, number>();
  #place = 0;
  #hash = emptySentence;
  #letters = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  next(code: number): void {
    this.#letters += 1;
    this.#hash = (Math.imul(this.#hash, 31) + code) | 0;
  }

  /** @returns whether the sentence that ends here has come often enough */
  end(): boolean {
    const isLong = this.#letters >= minSentence;
    const sentence = this.#hash;
    this.#hash = emptySentence;
    this.#letters = 0;
    return isLong && this.#count(sentence) >= this.#limit;
  }

  reset(): void {
    this.#latest.length = 0;
    this.#counts.clear();
    [this.#place, this.#hash, this.#letters] = [0, emptySentence, 0];
  }

  /** @returns how often the sentence has come among the last ones */
  #count(sentence: number): number {
    const oldest = this.#latest[this.#place];
    if (oldest !== undefined) {
      const left = (this.#counts.get(oldest) ?? 1) - 1;
      if (left > 0) this.#counts.set(oldest, left);
      else this.#counts.delete(oldest);
    }
    this.#latest[this.#place] = sentence;
    this.#place = (this.#place + 1) % maxSentences;
    const count = (this.#counts.get(sentence) ?? 0) + 1;
    this.#counts.set(sentence, count);
    return count;
  }
}
