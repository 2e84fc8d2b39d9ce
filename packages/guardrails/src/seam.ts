/** How much of the end of an answer may be repeated at the beginning of the next. */
const longestRepeat = 1000;
/** A shorter repeat may be chance. */
const shortestRepeat = 10;
/** So much of a repeat has to be letters or digits: rows of dashes and indentation repeat by themselves. */
const fewestLetters = 6;

/**
 * How many characters at the beginning of `next` only repeat the end of `before`, as models do that were asked to go on.
 *
 * A repeat counts when it begins where a word or line does and is long enough not to be chance.
 *
 * @example
 * ```ts
 * repeatedAtSeam('It was the best of times, it was', 'it was the worst'); // 0, too short to tell
 * repeatedAtSeam('It was the best of times, it was the', 'times, it was the worst'); // 17
 * ```
 */
export const repeatedAtSeam = (before: string, next: string): number => {
  const tail = before.slice(-longestRepeat);
  const length = Math.min(tail.length, next.length);
  const borders = longestSuffixPrefix(tail, next.slice(0, length));
  return isRepeat(before, next.slice(0, borders)) ? borders : 0;
};

/** The longest prefix of `next` with which `tail` ends, in linear time. */
const longestSuffixPrefix = (tail: string, next: string): number => {
  const failure = new Uint16Array(next.length);
  let matched = 0;
  for (let index = 1; index < next.length; index += 1) {
    while (matched > 0 && next.charCodeAt(index) !== next.charCodeAt(matched)) matched = failure[matched - 1] as number;
    if (next.charCodeAt(index) === next.charCodeAt(matched)) matched += 1;
    failure[index] = matched;
  }
  matched = 0;
  for (let index = 0; index < tail.length; index += 1) {
    if (matched === next.length) matched = failure[matched - 1] ?? 0;
    while (matched > 0 && tail.charCodeAt(index) !== next.charCodeAt(matched)) matched = failure[matched - 1] as number;
    if (next.length > 0 && tail.charCodeAt(index) === next.charCodeAt(matched)) matched += 1;
  }
  return matched;
};

const wordCharacter = /[\p{L}\p{N}_]/u;

const isRepeat = (before: string, repeat: string): boolean => {
  if (repeat.length < shortestRepeat) return false;
  const previous = before[before.length - repeat.length - 1];
  if (previous !== undefined && wordCharacter.test(previous) && wordCharacter.test(repeat.charAt(0))) return false;
  let letters = 0;
  for (const character of repeat) if (wordCharacter.test(character)) letters += 1;
  return letters >= fewestLetters;
};

/** Lets the pieces of an answer that goes on pass without what they only repeat. */
export class SeamFilter {
  readonly #before: string;
  #held = '';
  #isOver = false;

  constructor(before: string) {
    this.#before = before;
  }

  /** What of this piece may be shown now; it may be nothing, or more than the piece. */
  take(piece: string): string {
    if (this.#isOver) return piece;
    this.#held += piece;
    return this.#mayRepeat() ? '' : this.flush();
  }

  /** What is still held back, when no more is to come. */
  flush(): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    return this.#held.slice(repeatedAtSeam(this.#before, this.#held));
  }

  /** Whether what has come so far may be the beginning of a longer repeat. */
  #mayRepeat(): boolean {
    const tail = this.#before.slice(-longestRepeat);
    const place = tail.indexOf(this.#held);
    return place !== -1 && place + this.#held.length < tail.length;
  }
}
