/** A text of which ranges were replaced, with the offsets in the original. */
export class OffsetMap {
  /** The offsets behind each replaced range, in this text and in the original, and the length of what replaced it. */
  readonly #here: number[] = [0];
  readonly #there: number[] = [0];
  readonly #lengths: number[] = [0];
  readonly #original: string;
  #text = '';
  #last = 0;

  constructor(original: string) {
    this.#original = original;
  }

  /** End of the last replaced range in the original. */
  get last(): number {
    return this.#last;
  }

  /** Replaces a range of the original behind the last one. */
  replace(start: number, end: number, by: string): void {
    this.#text += this.#original.slice(this.#last, start) + by;
    this.#last = end;
    this.#here.push(this.#text.length);
    this.#there.push(end);
    this.#lengths.push(by.length);
  }

  /** Returns the text, after all replacements. */
  text(): string {
    return this.#text + this.#original.slice(this.#last);
  }

  /** Returns the offset in the original. */
  original(offset: number): number {
    const at = lastUpTo(this.#here, offset);
    return (this.#there[at] ?? 0) + offset - (this.#here[at] ?? 0);
  }

  /** Returns the offset of what is, or replaced, the character at an offset of the original. */
  plain(offset: number): number {
    const at = lastUpTo(this.#there, offset);
    const next = this.#here[at + 1] ?? Number.POSITIVE_INFINITY;
    return Math.min((this.#here[at] ?? 0) + offset - (this.#there[at] ?? 0), next - (this.#lengths[at + 1] ?? 0));
  }
}

/** Returns the index of the last number that is not larger than a limit. */
const lastUpTo = (numbers: readonly number[], limit: number): number => {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
};
