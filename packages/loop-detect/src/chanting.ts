import { checkChantingOptions } from './check-options.js';

/** Options of {@link createChantingDetector}. */
export interface ChantingOptions {
  /**
   * How often a text has to come in a row, without anything between. Short ones are repeated until `minChars` are full.
   *
   * @defaultValue `5`
   */
  readonly rounds?: number | undefined;
  /**
   * How long what repeats has to be in all, in characters.
   *
   * @defaultValue `400`
   */
  readonly minChars?: number | undefined;
  /**
   * How often one sentence may come among the last 50, with others between.
   *
   * @defaultValue `10`, as gemini-cli has it for chunks
   */
  readonly sentences?: number | undefined;
}

/** Watches a text that grows. */
export interface ChantingDetector {
  /** Takes the next piece. @returns whether the text repeats itself by now; it stays so until `reset` */
  add(text: string): boolean;
  reset(): void;
}

/** A power of two, so that places in a ring are cut out of numbers by a mask. */
const memory = 2_048;
const mask = memory - 1;
const window = 8;
const maxSentences = 50;
const minSentence = 24;

/**
 * Finds text that repeats itself, in prose alone: lines of code, tables, lists, headings and quotes are passed over.
 *
 * It takes the same time for each character, and remembers 2,048 of them and 50 sentences.
 *
 * @throws InvalidOptionError `invalid-option` that names the option, its value and what it takes
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
  const prose = createProseFilter();
  let stretch = createStretch(rounds, minChars);
  let recent = createSentences(sentences);
  let isChanting = false;
  return {
    add: (text) => {
      for (let index = 0; index < text.length && !isChanting; index += 1) {
        const character = prose.next(text.charCodeAt(index));
        if (character === undefined) continue;
        isChanting = stretch.next(character) || recent.next(character);
      }
      return isChanting;
    },
    reset: () => {
      prose.reset();
      stretch = createStretch(rounds, minChars);
      recent = createSentences(sentences);
      isChanting = false;
    },
  };
};

const [newline, space, backtick, tilde] = [10, 32, 96, 126];
const isBlank = (code: number): boolean => code === space || code === 9 || code === 13;

interface ProseFilter {
  /** The character as prose has it; nothing where it belongs to something else, or is one blank of many. */
  next(code: number): number | undefined;
  reset(): void;
}

/** Lets prose through, with runs of white space as one blank. What a line is, its first characters tell. */
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

/** Whether the text has come to repeat its last so many characters over and over. */
const createStretch = (rounds: number, minChars: number): { next(code: number): boolean } => {
  const text = new Uint16Array(memory);
  /** Where each short piece of text was seen last. */
  const places = new Int32Array(memory).fill(-1);
  let length = 0;
  let period = 0;
  let run = 0;
  return {
    next: (code) => {
      const at = length;
      text[at & mask] = code;
      length += 1;
      if (period > 0 && text[(at - period) & mask] === code) {
        run += 1;
      } else {
        run = 0;
        period = 0;
      }
      if (at < window) return false;
      let hash = 7;
      for (let back = 0; back < window; back += 1) hash = Math.imul(hash, 31) + (text[(at - back) & mask] ?? 0);
      const slot = (hash ^ (hash >>> 15)) & mask;
      const before = places[slot] ?? -1;
      places[slot] = at;
      if (period === 0 && before >= 0 && at - before < memory - 1) period = at - before;
      return run + period >= minChars && run >= (rounds - 1) * period && isWordy(text, at, period);
    },
  };
};

/** Whether what repeats has letters or digits in it: rules and dots may be as long as they like. */
const isWordy = (text: Uint16Array, at: number, period: number): boolean => {
  for (let back = 0; back < Math.min(period, 200); back += 1) {
    if (/[\p{L}\p{N}]/u.test(String.fromCharCode(text[(at - back) & mask] ?? 0))) return true;
  }
  return false;
};

/** Whether one sentence has come too often among the last ones. */
const createSentences = (limit: number): { next(code: number): boolean } => {
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
