const zero = 48;
const quote = 34;
const backslash = 92;
const point = 46;
const lineFeed = 10;

/** Longer strings are neither names nor ids. */
const maxTextLength = 200;

/** Whole numbers from here on are written in two parts, each of which is a small integer to the machine. */
const million = 1_000_000;

/**
 * JSON that is made once and written often: as words of eight bytes, because a call to copy a few bytes takes longer
 * than the copy. No valid UTF-8 is a NaN, whose bytes could change.
 */
export interface RawJson {
  readonly words: Float64Array;
  /** In bytes. */
  readonly length: number;
}

export const rawJson = (json: string): RawJson => {
  const bytes = Buffer.from(json);
  const padded = new DataView(new ArrayBuffer(Math.ceil(bytes.length / 8) * 8));
  for (const [index, byte] of bytes.entries()) padded.setUint8(index, byte);
  const words = Float64Array.from({ length: padded.byteLength / 8 }, (_, index) => padded.getFloat64(index * 8, true));
  return { words, length: bytes.length };
};

/** JSON that is put together as bytes: without the texts that would only be made to be encoded and thrown away. */
export class JsonBytes {
  readonly buffer: Buffer;
  readonly #view: DataView;
  length = 0;

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size);
    this.#view = new DataView(this.buffer.buffer, this.buffer.byteOffset, size);
  }

  /** Adds what is JSON already. Writes up to seven bytes beyond it, which the next ones replace. */
  raw({ words, length }: RawJson): void {
    for (let index = 0; index < words.length; index += 1) {
      this.#view.setFloat64(this.length + index * 8, words[index] as number, true);
    }
    this.length += length;
  }

  /** Adds a text as it is. */
  line(text: string): void {
    this.length += this.buffer.write(text, this.length);
  }

  newline(): void {
    this.buffer[this.length] = lineFeed;
    this.length += 1;
  }

  /** Adds a number as JavaScript formats it, and `null` for values that are not finite. */
  number(value: number): void {
    const small = toInteger(value);
    if (small === value && small >= 0) {
      this.#digits(small, digitsOf(small));
      return;
    }
    const millions = toInteger(value / million);
    const rest = toInteger(value - millions * million);
    if (millions > 0 && rest >= 0 && millions * million + rest === value) {
      this.#digits(millions, digitsOf(millions));
      this.#digits(rest, 6);
      return;
    }
    const thousandths = toInteger(value * 1000 + 0.5);
    if (thousandths > 0 && thousandths / 1000 === value) this.#decimal(thousandths);
    else this.length += this.buffer.write(Number.isFinite(value) ? String(value) : 'null', this.length, 'latin1');
  }

  /**
   * Adds a text in quotes and gives `true`, or gives `false` where it is long, or something in it must be escaped or is
   * not ASCII.
   */
  text(value: string): boolean {
    // Ids come from providers, which may violate their types.
    if (typeof value !== 'string' || value.length > maxTextLength) return false;
    const { buffer } = this;
    let at = this.length;
    buffer[at] = quote;
    at += 1;
    for (let index = 0; index < value.length; index += 1) {
      const code = value.charCodeAt(index);
      if (code < 32 || code > 126 || code === quote || code === backslash) return false;
      buffer[at] = code;
      at += 1;
    }
    buffer[at] = quote;
    this.length = at + 1;
    return true;
  }

  /** Adds a small whole number with zeros before it. */
  #digits(value: number, count: number): void {
    const { length } = this;
    let rest = value;
    let at = length + count;
    for (; at >= length + 2; at -= 2) {
      const shorter = toInteger(rest / 100);
      this.#view.setUint16(at - 2, pairs[rest - shorter * 100] as number);
      rest = shorter;
    }
    if (at > length) this.buffer[length] = zero + rest;
    this.length = length + count;
  }

  #decimal(thousandths: number): void {
    const whole = toInteger(thousandths / 1000);
    const fraction = thousandths - whole * 1000;
    this.#digits(whole, digitsOf(whole));
    this.buffer[this.length] = point;
    this.length += 1;
    if (fraction % 100 === 0) this.#digits(fraction / 100, 1);
    else if (fraction % 10 === 0) this.#digits(fraction / 10, 2);
    else this.#digits(fraction, 3);
  }
}

/**
 * Truncates a small number to an integer; other numbers give an arbitrary one. Lets the engine use integer arithmetic.
 */
const toInteger = (value: number): number => value | 0;

/** Two digits, as the bytes of one number. */
const pairs = Uint16Array.from(
  { length: 100 },
  (_, value) => (zero + toInteger(value / 10)) * 256 + zero + (value % 10),
);

const digitsOf = (value: number): number => {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits += 1;
  return digits;
};
