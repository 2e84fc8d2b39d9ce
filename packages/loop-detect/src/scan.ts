import { finishHash } from './canonical.js';

/** A summary of a text, sufficient to compare two outputs. */
export interface Scan {
  /** Hash of the text with every number, hash and id masked. */
  readonly shape: number;
  /** Hash of the text without what differs from run to run although nothing has changed. */
  readonly exact: number;
  /** Sum of the plain numbers, or of the ratios if there are any; `undefined` if the text has none. */
  readonly level?: number | undefined;
  /** Hash of the beginning, as {@link scanStart} returns it. */
  readonly start: number;
  /** Whether `level` is the sum of ratios: `12 of 214`, `3/5`, `45%`. */
  readonly isRatio?: boolean | undefined;
  /** Sum of the hashes of its parts in any order, without scores; `undefined` if it was not read in full. */
  readonly bag?: number | undefined;
  /** The smallest hashes of its words, for {@link similarity}. */
  readonly words: readonly number[];
}

/** Number of words and numbers in the sample of a text. */
const maxWords = 16;
const maxNumbers = 12;
/** Texts longer than this are read in full at both ends; in the middle only letters count. */
export const maxRead = 8_000;
const maxToken = 100;
/** Minimum length of random hashes and ids. */
const shortestId = 7;
/** Minimum length of random ids without a digit. */
const shortestIdOfLetters = 12;

/**
 * Matches labels of numbers that do not indicate progress: `pid 4711`, `"durationMs": 12`, `attempt=3`, `port 3001`.
 */
const volatileLabel =
  /(?:duration|elapsed|timestamp|latency|uptime|attempts?|retr(?:y|ies)|iterations?|counter|wall_?time|time_?taken|(?:started|ended|finished|created|updated)_?at|(?:^|[_-])(?:p?pid|pgid|process|node|thread|worker|tr(?:y|ies)|took|ports?|seed|seq(?:uence)?|tick|nonce|epoch|polls?|checks?|calls?|requests?|hits?))[_-]?(?:ms|s|secs?|seconds?|number|no|count|id)?$/i;
/** Matches labels of ids that are generated for each call. */
const volatileId =
  /(?:request|req|trace|span|correlation|process|chunk|nonce|run|job|session|cursor|next|continuation|page_?token)[-_ ]?(?:id|page|cursor|token)?\\?["']?[ \t]{0,3}[:=]?[ \t]{0,3}\\?["'<#]?(?:r-|req[-_])?$/i;
/** Matches labels of numbers that depend on the question and not on what was found. */
const scoreLabel = /(?:^|_)(?:score|similarity|distance|relevance)$/i;
const duration = /^(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|μs|ms|secs?|mins?|hrs?|[smhd]))+$/i;
const durationNext =
  /[ ,]{1,2}\d{1,9}(?:\.\d{1,9})?(?: ?(?:ns|us|µs|μs|ms|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|s)|[mhd])(?![\w-])/y;
const unitNext = / (?:ns|us|µs|μs|ms|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|s)(?![\w-])/y;
const shareNext = / ?(?:\/|of) ?(\d{1,12})(?![\w.-])/y;
const clock = /^(?:\d{4}-\d\d-\d\dT)?\d{1,3}:\d\d:\d\d(?:\.\d{1,9})?Z?$|^\d{4}-\d\d-\d\dT\d\d:\d\dZ?$/;
const maxDigits = 15;
const plainNumber = /^\d{1,15}(?:\.\d{1,20})?$/;
const sized = /^(\d{1,12}(?:\.\d{1,9})?)(?:[kmgt]i?b?|b|bytes)$/i;
const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const address = /^0x[\da-f]{6,16}$/i;
const shortestTemporary = 9;
const temporary = /^(?:tmp|temp)[._-]?\w{6,}$|^req_\w{8,}$/i;
const hexadecimal = /^(?=[a-f-]*\d)[\da-f-]{7,}$/i;
const secondsSince1970 = /^1[5-9](?:\d{8}|\d{11})(?:\.\d+)?$/;
/** Matches alternating letters and digits, as in random keys. */
const random = /^(?=.{8,})(?:[a-z_-]*\d+[a-z_-]+){3,}\d*$/i;
/** Matches names that browsers give the elements of one snapshot, as in `[ref=s3e12]`. */
const elementRef = /^(?:[a-z]\d{1,6}){1,3}$/;
const temporaryFolder = /(?:\/te?mp\/|\/T\/|\\Temp\\)$/;

const [other, letter, digit] = [0, 1, 2] as const;
/** The class of each UTF-16 unit; those beyond ASCII count as letters. */
const classes = new Uint8Array(65_536).fill(letter, 128);
for (let code = 0; code < 128; code += 1) {
  if (code >= 48 && code <= 57) classes[code] = digit;
  else if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95) classes[code] = letter;
}
const mixed = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 2246822507);
const classOf = (code: number): number => classes[code] as number;
const [dot, colon, dash, percent, blank, slash, backslash, quote, equals] = [46, 58, 45, 37, 32, 47, 92, 34, 61];
const codesOf = (characters: string): ReadonlySet<number> =>
  new Set(Array.from(characters, (character) => character.charCodeAt(0)));
/** Characters of a long text that are hashed in one call. */
const chunk = 2048;
/** The first letters of the units that {@link unitNext} matches. */
const unitStarts = codesOf('nuµμmshd');
/** What may be between a label and its number. */
const labelGaps = codesOf(' \t:=#"\'\\([');

/**
 * Scans a text once, character by character, and classifies its numbers.
 *
 * Times, durations, process ids, ports, seeds, attempts, addresses, UUIDs and temporary names are volatile and ignored.
 * The time is linear in the length of the text.
 *
 * @param seed a short string that is included in `shape` and `exact`
 */
export const scan = (text: string, seed = ''): Scan => {
  const scanner = new Scanner(text, seed);
  const startEnd = readStart(scanner, text);
  const start = scanner.exact;
  if (text.length <= maxRead) {
    scanner.read(startEnd, text.length);
  } else {
    scanner.read(startEnd, maxRead / 2);
    const end = text.length - maxRead / 2;
    // In chunks: V8 optimizes a function that is called often better than one with a long loop.
    for (let at = maxRead / 2; at < end; at += chunk) scanner.skim(at, Math.min(end, at + chunk));
    scanner.read(text.length - maxRead / 2, text.length);
  }
  return scanner.result(start);
};

/** Units of a text, such as words and signs, that {@link scanStart} reads. */
const startUnits = 64;

/** Hashes the beginning of a text as `exact` does: texts with different hashes are different in `exact`. */
export const scanStart = (text: string, seed = ''): number => {
  const scanner = new Scanner(text, seed);
  readStart(scanner, text);
  return scanner.exact;
};

/** Reads the beginning of a text. @returns where it ends */
const readStart = (scanner: Scanner, text: string): number =>
  scanner.read(0, Math.min(text.length, maxRead / 2), startUnits);

class Scanner {
  readonly #text: string;
  // Signed, so that V8 stores the hashes as integers.
  #shapeHigh = 0xdeadbeef | 0;
  #shapeLow = 0x41c6ce57;
  #valuesHigh = 0x9e3779b9 | 0;
  #valuesLow = 0x85ebca6b | 0;
  readonly #words: number[] = [];
  #bag = 0;
  #numbers = 0;
  #sum = 0;
  #ratios = 0;
  #ratioSum = 0;
  /** The last word without digits, which may be the label of the next number. */
  #labelStart = 0;
  #labelEnd = -1;
  /** Whether the last character was a space. */
  #isBlank = false;

  constructor(text: string, seed: string) {
    this.#text = text;
    for (let at = 0; at < seed.length; at += 1) this.#feed(seed.charCodeAt(at), 7);
  }

  /** @param maxUnits how many units are hashed at most. @returns the end of the last one */
  read(from: number, to: number, maxUnits = Infinity): number {
    const text = this.#text;
    let at = from;
    let isBlank = this.#isBlank;
    let units = 0;
    while (at < to && units < maxUnits) {
      const code = text.charCodeAt(at);
      const kind = classOf(code);
      if (kind === other) {
        const isSpace = code === blank || code === 9 || code === 13;
        if (!isSpace || !isBlank) {
          this.#feed(isSpace ? blank : code, code);
          units += 1;
        }
        isBlank = isSpace;
        at += 1;
        continue;
      }
      isBlank = false;
      at = this.#token(at, to);
      units += 1;
    }
    this.#isBlank = isBlank;
    return at;
  }

  /** Hashes only the letters. */
  skim(from: number, to: number): void {
    const text = this.#text;
    let high = this.#shapeHigh;
    let low = this.#shapeLow;
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (classOf(code) !== letter) continue;
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
    this.#shapeHigh = high;
    this.#shapeLow = low;
    this.#labelEnd = -1;
    this.#isBlank = false;
  }

  /** Hash of all that was read. */
  get exact(): number {
    return finishHash(this.#shapeHigh ^ this.#valuesHigh, this.#shapeLow ^ this.#valuesLow);
  }

  /** @param start hash of the beginning */
  result(start: number): Scan {
    const hasRatio = this.#ratios > 0;
    const hasLevel = hasRatio || this.#numbers > 0;
    return {
      shape: finishHash(this.#shapeHigh, this.#shapeLow),
      exact: this.exact,
      start,
      ...(hasLevel && { level: hasRatio ? this.#ratioSum : this.#sum }),
      ...(hasRatio && { isRatio: true }),
      ...(this.#text.length <= maxRead && { bag: this.#bag }),
      words: this.#words,
    };
  }

  /** Reads the token that begins here. @returns where it ends */
  #token(start: number, to: number): number {
    const text = this.#text;
    let at = start;
    let hash = 0x811c9dc5 | 0;
    // Most tokens are words.
    for (; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (classOf(code) !== letter) break;
      hash = Math.imul(hash ^ code, 2654435761);
    }
    let hasDigit = false;
    let hasLetter = at > start;
    let hasSign = false;
    let before = letter as number;
    for (; at < to; at += 1) {
      const code = text.charCodeAt(at);
      const kind = classOf(code);
      if (kind === other) {
        if (code !== dot && code !== dash && code !== colon) break;
        const next = at + 1 < to ? classOf(text.charCodeAt(at + 1)) : other;
        if (next === other || (code === colon && (before !== digit || next !== digit))) break;
        hasSign = true;
      } else {
        before = kind;
        if (kind === digit) hasDigit = true;
        else hasLetter = true;
      }
      hash = Math.imul(hash ^ code, 2654435761);
    }
    if (hasDigit || (at - start >= shortestTemporary && isTemporary(text, start, at))) {
      const label = this.#labelBefore(start);
      this.#labelEnd = -1;
      return this.#digits(start, at, { hasLetter, hasSign, label });
    }
    if (this.#isRandomId(start, at)) {
      this.#labelEnd = -1;
      return this.#volatile(at);
    }
    this.#feed(hash, hash);
    if (at - start > 1) this.#addWord(hash);
    this.#labelStart = start;
    this.#labelEnd = at;
    return at;
  }

  /** Adds a token with digits to the summary. @returns its end, including its unit */
  #digits(start: number, end: number, { hasLetter, hasSign, label }: TokenTraits): number {
    const text = this.#text;
    const token = text.slice(start, Math.min(end, start + maxToken));
    if (isLabelOfId(label) && volatileId.test(text.slice(Math.max(0, start - 24), start))) return this.#volatile(end);
    if (!hasLetter && (hasSign ? plainNumber.test(token) : token.length <= maxDigits)) {
      return this.#number(token, start, end, label);
    }
    if (!hasLetter || isDigitCode(token.charCodeAt(0))) {
      if (hasLetter && duration.test(token)) return this.#volatile(behindDurations(text, end));
      if (clock.test(token) || (hasLetter && address.test(token))) return this.#volatile(end);
      const size = hasLetter ? sized.exec(token) : null;
      if (size !== null) {
        this.#addNumber(Number(size[1]));
        return this.#value(token, end);
      }
    }
    if (label === 'ref' && elementRef.test(token)) return this.#volatile(end);
    const isInFolder = text.charCodeAt(start - 1) === slash || text.charCodeAt(start - 1) === backslash;
    if (isInFolder && temporaryFolder.test(text.slice(Math.max(0, start - 6), start))) return this.#volatile(end);
    if (token.length >= shortestId) {
      if (uuid.test(token) || temporary.test(token)) return this.#volatile(end);
      const isRandom = hexadecimal.test(token) || random.test(token);
      if ((isRandom || token.length >= 16 || /^(?:r|req)[-_]/i.test(token)) && isIdOfCall(text, token, start, label)) {
        return this.#volatile(end);
      }
      if (isRandom) return this.#value(token, end);
    }
    let isRun = false;
    for (const character of token) {
      const isDigit = character >= '0' && character <= '9';
      if (!isDigit || !isRun) this.#feed(isDigit ? 35 : character.charCodeAt(0), 35);
      isRun = isDigit;
    }
    this.#hashValue(token);
    return end;
  }

  #number(token: string, start: number, end: number, label: string): number {
    const text = this.#text;
    const next = text.charCodeAt(end);
    if (isVolatileNumber(text, token, start, end, label)) {
      return this.#volatile(shareAt(text, end) === undefined ? behindUnit(text, end) : shareNext.lastIndex);
    }
    if (next === blank) {
      const unitEnd = behindUnit(text, end);
      if (unitEnd > end) return this.#volatile(behindDurations(text, unitEnd));
    }
    const value = Number(token);
    const whole = text.charCodeAt(start - 1) === slash ? undefined : shareAt(text, end);
    if (next === percent) this.#addRatio(value / 100);
    else if (whole !== undefined && whole > 0 && value <= whole) this.#addRatio(value / whole);
    else this.#addNumber(value);
    return this.#value(token, end, label !== '' && scoreLabel.test(label));
  }

  /** Whether a word without digits is a random id by its label. */
  #isRandomId(start: number, end: number): boolean {
    const isLabelled = this.#labelEnd - this.#labelStart === 2 && isLabelOfId(this.#labelBefore(start));
    const before = this.#text.charCodeAt(start - 1);
    const isAfterSign =
      before === quote || before === equals || (before === blank && this.#text.charCodeAt(start - 2) === colon);
    const isValue = end - start >= shortestIdOfLetters && isAfterSign;
    return (isLabelled || isValue) && volatileId.test(this.#text.slice(Math.max(0, start - 24), start));
  }

  #labelBefore(start: number): string {
    if (this.#labelEnd < 0 || start - this.#labelEnd > 6) return '';
    for (let at = this.#labelEnd; at < start; at += 1) if (!labelGaps.has(this.#text.charCodeAt(at))) return '';
    return this.#text.slice(Math.max(this.#labelStart, this.#labelEnd - 32), this.#labelEnd);
  }

  #volatile(end: number): number {
    this.#feed(126, 126);
    return end;
  }

  #value(token: string, end: number, isScore = false): number {
    this.#feed(35, 35);
    this.#hashValue(token, isScore);
    return end;
  }

  #hashValue(token: string, isScore = false): void {
    let hash = 0x811c9dc5 | 0;
    for (let index = 0; index < token.length; index += 1) {
      const code = token.charCodeAt(index);
      this.#valuesHigh = Math.imul(this.#valuesHigh ^ code, 2654435761);
      this.#valuesLow = Math.imul(this.#valuesLow ^ code, 1597334677);
      hash = Math.imul(hash ^ code, 2654435761);
    }
    if (!isScore) this.#bag = (this.#bag + mixed(hash)) | 0;
    this.#valuesHigh = Math.imul(this.#valuesHigh ^ 10, 2654435761);
    this.#valuesLow = Math.imul(this.#valuesLow ^ 10, 1597334677);
  }

  #feed(high: number, low: number): void {
    if (high !== blank && high !== 10) this.#bag = (this.#bag + mixed(high)) | 0;
    this.#shapeHigh = Math.imul(this.#shapeHigh ^ high, 2654435761);
    this.#shapeLow = Math.imul(this.#shapeLow ^ low, 1597334677);
  }

  #addNumber(value: number): void {
    if (this.#numbers >= maxNumbers) return;
    this.#numbers += 1;
    this.#sum += value;
  }

  #addRatio(value: number): void {
    if (this.#ratios >= maxNumbers) return;
    this.#ratios += 1;
    this.#ratioSum += value;
  }

  /** Stores the smallest distinct hashes in order. */
  #addWord(hash: number): void {
    const words = this.#words;
    const small = (mixed(hash) >>> 12) & 0xfffff;
    let at = words.length;
    if (at === maxWords && small >= (words[at - 1] as number)) return;
    while (at > 0 && (words[at - 1] as number) > small) at -= 1;
    if (at > 0 && words[at - 1] === small) return;
    for (let last = Math.min(words.length, maxWords - 1); last > at; last -= 1) words[last] = words[last - 1] as number;
    words[at] = small;
  }
}

/** What is known about a token with digits. */
interface TokenTraits {
  readonly hasLetter: boolean;
  /** Whether it has a dot, a hyphen or a colon. */
  readonly hasSign: boolean;
  /** The word before it, if that may be its label. */
  readonly label: string;
}

const isTemporary = (text: string, start: number, end: number): boolean => {
  const first = text.charCodeAt(start) | 32;
  return (first === 116 || first === 114) && temporary.test(text.slice(start, end));
};

const isDigitCode = (code: number): boolean => code >= 48 && code <= 57;

const isLabelOfId = (label: string): boolean => label.length === 2 && label.toLowerCase() === 'id';

const isIdOfCall = (text: string, token: string, start: number, label: string): boolean =>
  volatileId.test(text.slice(Math.max(0, start - 24), start)) ||
  /(?:^|[^\w])id=["']?$/.test(text.slice(Math.max(0, start - 5), start)) ||
  (token.length >= 16 && hexadecimal.test(token) && label.toLowerCase() === 'id');

const isVolatileNumber = (text: string, token: string, start: number, end: number, label: string): boolean => {
  if (token.length >= 10 && secondsSince1970.test(token)) return true;
  if (label !== '' && volatileLabel.test(label)) return true;
  // `sshd[4711]:` and `==4711==` are process ids.
  const isBracketed = text.charCodeAt(start - 1) === 91 && text.startsWith(']:', end);
  return isBracketed || (text.startsWith('==', start - 2) && text.startsWith('==', end));
};

/** Returns the whole of a share such as `/5` or ` of 214`, and leaves its end in `shareNext`. */
const shareAt = (text: string, at: number): number | undefined => {
  const code = text.charCodeAt(at);
  const first = code === blank ? text.charCodeAt(at + 1) : code;
  if (first !== slash && first !== 111) return undefined;
  shareNext.lastIndex = at;
  const share = shareNext.exec(text);
  return share === null ? undefined : Number(share[1]);
};

const behindUnit = (text: string, end: number): number => {
  if (text.charCodeAt(end) !== blank || !unitStarts.has(text.charCodeAt(end + 1))) return end;
  unitNext.lastIndex = end;
  return unitNext.test(text) ? unitNext.lastIndex : end;
};

/** Returns the end of a duration such as `1m 23s`. */
const behindDurations = (text: string, end: number): number => {
  let at = end;
  for (let parts = 0; parts < 4; parts += 1) {
    const next = text.charCodeAt(at);
    if (next !== 32 && next !== 44) return at;
    durationNext.lastIndex = at;
    if (!durationNext.test(text)) return at;
    at = durationNext.lastIndex;
  }
  return at;
};

/** Estimates which share of their words two texts have in common, from 0 to 1. */
export const similarity = (left: readonly number[], right: readonly number[]): number => {
  const limit = Math.max(left.length, right.length) >= maxWords ? maxWords : Infinity;
  let [at, behind, both, all] = [0, 0, 0, 0];
  while ((at < left.length || behind < right.length) && all < limit) {
    const one = left[at] ?? Infinity;
    const two = right[behind] ?? Infinity;
    if (one === two) both += 1;
    if (one <= two) at += 1;
    if (two <= one) behind += 1;
    all += 1;
  }
  return all === 0 ? 1 : both / all;
};
