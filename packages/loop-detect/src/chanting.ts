import { checkChantingOptions, type ChantingOptions } from './options.js';

/** Detects repetition in a growing text. */
export interface ChantingDetector {
  /** Adds the next chunk. @returns whether the text repeats itself; it stays `true` until `reset` */
  add(text: string): boolean;
  reset(): void;
}

/** Number of characters in the ring buffer. A power of two, so that a mask computes the position. */
const memory = 2_048;
const mask = memory - 1;
/** Length of the samples that are compared to find a period. */
const sampleLength = 8;
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
  const { rounds = 5, minChars = 400, sentences = 10 } = options;
  /** A text shorter than this cannot repeat itself often enough. */
  const minLength = Math.min(minChars, sentences * minSentence);
  const collected = Math.min(maxCollected, Math.ceil(minLength / 8));
  const prose = createProseFilter();
  let period = createPeriodFinder(rounds, minChars);
  let counter = createSentenceCounter(sentences);
  let isChanting = false;
  let isRead = false;
  let pending = '';
  return {
    add: (text) => {
      pending += text;
      if (isChanting || pending.length < (isRead ? collected : minLength)) return isChanting;
      const chunk = pending;
      pending = '';
      isRead = true;
      for (let index = 0; index < chunk.length && !isChanting; index += 1) {
        const character = prose.next(chunk.charCodeAt(index));
        if (character === undefined) continue;
        isChanting = period.next(character) || counter.next(character);
      }
      return isChanting;
    },
    reset: () => {
      pending = '';
      isChanting = false;
      if (!isRead) return;
      isRead = false;
      prose.reset();
      period = createPeriodFinder(rounds, minChars);
      counter = createSentenceCounter(sentences);
    },
  };
};

const [newline, space, backtick, tilde] = [10, 32, 96, 126];
const isBlank = (code: number): boolean => code === space || code === 9 || code === 13;

interface ProseFilter {
  /**
   * Returns the character if it belongs to prose; `undefined` otherwise, and for all but the first of several blanks.
   */
  next(code: number): number | undefined;
  reset(): void;
}

/** Creates a filter that passes prose with collapsed white space. The first characters of a line decide its kind. */
const createProseFilter = (): ProseFilter => {
  let isFenced = false;
  let isOther = false;
  let isLineStart = true;
  let fence = 0;
  let last = space;
  const reset = (): void => {
    [isFenced, isOther, isLineStart, fence, last] = [false, false, true, 0, space];
  };
  return {
    next: (code) => {
      if (code === newline) {
        if (fence >= 3) isFenced = !isFenced;
        [isOther, isLineStart, fence] = [false, true, 0];
        const isKept = !isFenced && last !== newline;
        last = newline;
        return isKept ? newline : undefined;
      }
      if (isLineStart) {
        if (isBlank(code)) return undefined;
        if ((code === backtick || code === tilde) && fence < 3) {
          fence += 1;
          isOther = fence >= 3;
          if (!isOther) return undefined;
        }
        isOther ||= isMarker(code);
        isLineStart = false;
      }
      if (isFenced || isOther) return undefined;
      if (isBlank(code)) {
        if (last === space || last === newline) return undefined;
        last = space;
        return space;
      }
      last = code;
      return code;
    },
    reset,
  };
};

/** `|`, `-`, `*`, `+`, `#`, `>`, `=`, `•` and digits begin tables, lists, headings, quotes and rules. */
const markers: ReadonlySet<number> = new Set(Array.from('|-*+#>=_•0123456789', (character) => character.charCodeAt(0)));
const isMarker = (code: number): boolean => markers.has(code);

/** 31 to the power of `sampleLength`, to remove the oldest character from a rolling hash. */
const oldestFactor = Array.from({ length: sampleLength }).reduce<number>((factor) => Math.imul(factor, 31), 1);

/** Creates a detector for a text that repeats its last N characters. */
const createPeriodFinder = (rounds: number, minChars: number): { next(code: number): boolean } => {
  const text = new Uint16Array(memory);
  /** The last position of each sample, by its hash. */
  const places = new Int32Array(memory).fill(-1);
  let length = 0;
  let period = 0;
  let run = 0;
  let hash = 0;
  return {
    next: (code) => {
      const at = length;
      const oldest = at < sampleLength ? 0 : (text[(at - sampleLength) & mask] ?? 0);
      text[at & mask] = code;
      length += 1;
      hash = (Math.imul(hash, 31) + code - Math.imul(oldest, oldestFactor)) | 0;
      if (period > 0 && text[(at - period) & mask] === code) {
        run += 1;
      } else {
        run = 0;
        period = 0;
      }
      if (at < sampleLength) return false;
      const mixed = Math.imul(hash, 0x9e3779b1);
      const place = (mixed ^ (mixed >>> 15)) & mask;
      const before = places[place] ?? -1;
      places[place] = at;
      if (period === 0 && before >= 0 && at - before < memory - 1) period = at - before;
      return run + period >= minChars && run >= (rounds - 1) * period && isWordy(text, at, period);
    },
  };
};

/** Whether a passage has letters or digits; rules and dots may have any length. */
const isWordy = (text: Uint16Array, at: number, period: number): boolean => {
  for (let back = 0; back < Math.min(period, 200); back += 1) {
    if (/[\p{L}\p{N}]/u.test(String.fromCharCode(text[(at - back) & mask] ?? 0))) return true;
  }
  return false;
};

/** Creates a counter for the occurrences of each of the last sentences. */
const createSentenceCounter = (limit: number): { next(code: number): boolean } => {
  const latest: number[] = Array.from({ length: maxSentences }, () => 0);
  const counts = new Map<number, number>();
  let place = 0;
  let hash = 7;
  let letters = 0;
  const end = (): boolean => {
    const isLong = letters >= minSentence;
    const sentence = hash;
    [hash, letters] = [7, 0];
    if (!isLong) return false;
    const oldest = latest[place] ?? 0;
    const left = (counts.get(oldest) ?? 1) - 1;
    if (left > 0) counts.set(oldest, left);
    else counts.delete(oldest);
    latest[place] = sentence;
    place = (place + 1) % maxSentences;
    const count = (counts.get(sentence) ?? 0) + 1;
    counts.set(sentence, count);
    return count >= limit;
  };
  return {
    next: (code) => {
      if (code === newline || code === 46 || code === 33 || code === 63 || code === 0x3002) return end();
      if (code === space) return false;
      letters += 1;
      hash = Math.imul(hash, 31) + code;
      return false;
    },
  };
};
