import { StringDecoder } from 'node:string_decoder';

/** The part of a text to keep. */
export interface WindowOptions {
  /** The first line to keep, counted from 1. */
  readonly offset: number;
  /** Maximum number of lines. */
  readonly maxLines: number;
  /** Maximum number of UTF-8 bytes of all kept lines. A line is kept whole or not at all. */
  readonly maxBytes: number;
  /** The first character of each line to keep, counted from 1. */
  readonly column: number;
  /** Maximum number of characters of a line. */
  readonly maxLineChars: number;
}

/** A line, or its kept part. */
export interface WindowLine {
  readonly number: number;
  readonly text: string;
  /** Length of the whole line in bytes, without the line end. */
  readonly bytes: number;
  /** Whether characters follow the kept part. */
  readonly isCut: boolean;
}

/** The result of a {@link LineWindow}. */
export interface WindowResult {
  readonly lines: readonly WindowLine[];
  /** Number of lines, including an unterminated last one. */
  readonly seenLines: number;
}

const lineFeed = 0x0a;

/**
 * Selects a window of lines from a text that is written in chunks of any size.
 *
 * Only the selected part is kept in memory, even for a line of a gigabyte. A byte order mark and the `\r` of `\r\n` are
 * removed; invalid UTF-8 becomes U+FFFD, and NUL becomes U+2400.
 */
export class LineWindow {
  readonly #options: WindowOptions;
  readonly #lines: WindowLine[] = [];
  #line: LinePart;
  #number = 1;
  #budget: number;
  #isFull = false;
  #isOpen = false;

  constructor(options: WindowOptions) {
    this.#options = options;
    this.#budget = options.maxBytes;
    this.#line = this.#newLine(options.offset === 1);
  }

  /** Whether the window is complete. */
  get isFull(): boolean {
    return this.#isFull;
  }

  write(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      this.#feed(chunk.subarray(start, end));
      this.#finishLine();
      start = end + 1;
    }
    if (start < chunk.length) this.#feed(chunk.subarray(start));
  }

  /** Ends the text and returns the result. */
  end(): WindowResult {
    if (this.#isOpen) this.#finishLine();
    return { lines: this.#lines, seenLines: this.#number - 1 };
  }

  #feed(piece: Buffer): void {
    this.#isOpen = true;
    if (!this.#isFull && this.#number >= this.#options.offset) this.#line.write(piece);
  }

  #finishLine(): void {
    if (!this.#isFull && this.#number >= this.#options.offset) this.#keep();
    this.#number += 1;
    this.#isOpen = false;
  }

  #keep(): void {
    const line = this.#line.finish(this.#number);
    this.#line = this.#newLine(false);
    // One byte for the line end.
    this.#budget -= Buffer.byteLength(line.text) + 1;
    // The first line is kept even if it is too long; `maxLineChars` limits it.
    const fits = this.#budget >= 0 || this.#lines.length === 0;
    if (fits) this.#lines.push(line);
    this.#isFull = !fits || this.#lines.length >= this.#options.maxLines;
  }

  #newLine(isFirst: boolean): LinePart {
    return new LinePart(this.#options.column - 1, this.#options.maxLineChars, isFirst);
  }
}

/** Collects a range of characters of one line. */
class LinePart {
  readonly #decoder = new StringDecoder('utf8');
  readonly #maxChars: number;
  #mayHaveMark: boolean;
  #skip: number;
  #text = '';
  #bytes = 0;

  constructor(skip: number, maxChars: number, isFirst: boolean) {
    this.#skip = skip;
    this.#maxChars = maxChars;
    this.#mayHaveMark = isFirst;
  }

  write(piece: Buffer): void {
    this.#bytes += piece.length;
    if (!this.#hasEnough()) this.#add(this.#decoder.write(piece));
  }

  finish(number: number): WindowLine {
    if (!this.#hasEnough()) this.#add(this.#decoder.end());
    const text = this.#text.endsWith('\r') ? this.#text.slice(0, -1) : this.#text;
    const isCut = text.length > this.#maxChars;
    const kept = isCut ? text.slice(0, this.#maxChars) : text;
    return { number, text: kept.toWellFormed().replaceAll('\0', '\u2400'), bytes: this.#bytes, isCut };
  }

  /** Two characters beyond the limit: one shows whether the line continues, the next whether it ends there. */
  #hasEnough(): boolean {
    return this.#text.length >= this.#maxChars + 2;
  }

  #add(decoded: string): void {
    if (decoded === '') return;
    const text = this.#mayHaveMark && decoded.startsWith('\uFEFF') ? decoded.slice(1) : decoded;
    this.#mayHaveMark = false;
    const skipped = Math.min(this.#skip, text.length);
    this.#skip -= skipped;
    this.#text += text.slice(skipped, skipped + this.#maxChars + 2 - this.#text.length);
  }
}
