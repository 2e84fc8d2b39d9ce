const zero = 48;
const quote = 34;
const backslash = 92;
const point = 46;
const lineFeed = 10;

/** Maximum length of an encoded string. Names and ids are shorter. */
const maxTextLength = 200;

/** Integers of this size and above are written in two parts, so that each part is a small integer to the engine. */
const million = 1_000_000;

/**
 * JSON that is encoded once and written often. It is stored in eight-byte words, because a call that copies a few bytes
 * takes longer than the copy. Valid UTF-8 never forms a NaN, whose bytes the engine could change.
 */
export interface RawJson {
  readonly words: Float64Array;
  /** Length in bytes. */
  readonly length: number;
}

export const rawJson = (json: string): RawJson => {
  const bytes = Buffer.from(json);
  const padded = new DataView(new ArrayBuffer(Math.ceil(bytes.length / 8) * 8));
  for (const [index, byte] of bytes.entries()) padded.setUint8(index, byte);
  const words = Float64Array.from({ length: padded.byteLength / 8 }, (_, index) => padded.getFloat64(index * 8, true));
  return { words, length: bytes.length };
};

/** Builds JSON directly as bytes, without intermediate strings. */
export class JsonBytes {
  readonly buffer: Buffer;
  readonly #view: DataView;
  length = 0;

  constructor(size: number) {
    this.buffer = Buffer.allocUnsafe(size);
    this.#view = new DataView(this.buffer.buffer, this.buffer.byteOffset, size);
  }

  /** Adds encoded JSON. Writes up to seven bytes beyond its end, which the next write replaces. */
  raw({ words, length }: RawJson): void {
    for (let index = 0; index < words.length; index += 1) {
      this.#view.setFloat64(this.length + index * 8, words[index] as number, true);
    }
    this.length += length;
  }

  /** Adds a string without quotes or escapes. */
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
   * Adds a quoted string and returns `true`. Returns `false` if the string is long, is not ASCII or needs an escape.
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

  /** Adds a small integer with leading zeros. */
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
 * Truncates a 32-bit number to an integer, so that the engine uses integer arithmetic. Larger numbers wrap around.
 */
const toInteger = (value: number): number => value | 0;

/** The bytes of each two-digit number as one 16-bit value. */
const pairs = Uint16Array.from(
  { length: 100 },
  (_, value) => (zero + toInteger(value / 10)) * 256 + zero + (value % 10),
);

const digitsOf = (value: number): number => {
  let digits = 1;
  for (let limit = 10; value >= limit; limit *= 10) digits += 1;
  return digits;
};
