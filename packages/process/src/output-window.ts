import { checkOptions, integerFrom, numberFrom, required } from '@h/options';

/** What an output window has stored. */
export interface CapturedOutput {
  /** The beginning and the end of the output, with a line between them that reports how much was omitted. */
  readonly text: string;
  /** Size of the complete output, in bytes. */
  readonly bytes: number;
  /** Size of the part that is not in `text`, in bytes. */
  readonly omittedBytes: number;
  /** The stored part contains NUL bytes, so the output is not text. */
  readonly binary: boolean;
}

/** Receives an output of any length and stores its beginning and its end. */
export interface OutputWindow {
  write(chunk: Uint8Array): void;
  read(): CapturedOutput;
}

/** Options of {@link outputWindow}. */
export interface OutputWindowOptions {
  /** The length of `text`, in UTF-16 code units, including the line about the omission. */
  readonly maxChars: number;
  /**
   * The part of `maxChars` that shows the beginning: `0` for the end alone, `1` for the beginning alone.
   *
   * @defaultValue `1 / 3`, because errors, totals and exit codes are at the end of a log
   */
  readonly headShare?: number | undefined;
}

const defaultHeadShare = 1 / 3;

/** A cut moves to the end of a line if that costs no more than this share of the shown part. */
const snapShare = 0.2;

/** Most outputs are short: the buffer starts with this size, in bytes, and grows. */
const initialBytes = 4_096;

/** A UTF-16 code unit takes at most three bytes of UTF-8, so an output with more bytes does not fit and is cut. */
const bytesPerChar = 3;

/**
 * Stores at most `maxChars` characters of an output of any length, in bounded memory.
 *
 * Bytes are decoded once, at the end, so that characters split between chunks stay whole. Invalid UTF-8 becomes U+FFFD.
 *
 * @throws InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const window = outputWindow({ maxChars: 30_000 });
 * await runProcess({ command: ['npm', 'test'], environment, timeoutMs: 60_000, onOutput: (chunk) => window.write(chunk) });
 * const { text, omittedBytes } = window.read();
 * ```
 */
export const outputWindow = (options: OutputWindowOptions): OutputWindow => {
  checkOptions('outputWindow()', options, { maxChars: required(integerFrom(0)), headShare: numberFrom(0, 1) });
  const { maxChars, headShare = defaultHeadShare } = options;
  const size = maxChars * bytesPerChar;
  let head = new Uint8Array(Math.min(size, initialBytes));
  let ring = new Uint8Array(0);
  let total = 0;

  const growHead = (needed: number): void => {
    if (needed <= head.length) return;
    const grown = new Uint8Array(Math.min(size, Math.max(needed, head.length * 2)));
    grown.set(head);
    head = grown;
  };

  const write = (chunk: Uint8Array): void => {
    if (total < size) {
      const part = chunk.subarray(0, size - total);
      growHead(total + part.length);
      head.set(part, total);
    }
    if (total + chunk.length > size) writeToRing(chunk);
    total += chunk.length;
  };

  const writeToRing = (chunk: Uint8Array): void => {
    if (ring.length === 0) ring = head.slice();
    const last = chunk.subarray(Math.max(0, chunk.length - size));
    const start = size === 0 ? 0 : (total + chunk.length - last.length) % size;
    const untilEnd = last.subarray(0, size - start);
    ring.set(untilEnd, start);
    ring.set(last.subarray(untilEnd.length), 0);
  };

  const lastBytes = (): Uint8Array => {
    if (total <= size) return head.subarray(0, total);
    const start = total % size;
    const bytes = new Uint8Array(size);
    bytes.set(ring.subarray(start), 0);
    bytes.set(ring.subarray(0, start), size - start);
    return bytes;
  };

  return {
    write,
    read: () => {
      const first = head.subarray(0, Math.min(total, size));
      const last = lastBytes();
      const binary = first.includes(0) || last.includes(0);
      const whole = total <= size ? decode(first) : undefined;
      return whole !== undefined && whole.length <= maxChars
        ? { text: whole, bytes: total, omittedBytes: 0, binary }
        : { ...cut(first, last, total, { maxChars, headShare }), bytes: total, binary };
    },
  };
};

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

const marker = (omittedBytes: number): string => `\n[… ${omittedBytes.toLocaleString('en-US')} bytes omitted …]\n`;

const cut = (
  first: Uint8Array,
  last: Uint8Array,
  total: number,
  { maxChars, headShare }: { readonly maxChars: number; readonly headShare: number },
): Pick<CapturedOutput, 'text' | 'omittedBytes'> => {
  const room = maxChars - marker(total).length;
  if (room < 0) return { text: marker(total).trim().slice(0, maxChars), omittedBytes: total };
  const headChars = Math.floor(room * headShare);
  const head = snapEnd(first.subarray(0, bytesToTake(first, headChars)));
  const tail = snapStart(last.subarray(bytesToSkip(last, room - headChars)));
  const omittedBytes = total - head.length - tail.length;
  return { text: decode(head) + marker(omittedBytes) + decode(tail), omittedBytes };
};

const newline = 10;

const snapEnd = (bytes: Uint8Array): Uint8Array => {
  const end = bytes.lastIndexOf(newline) + 1;
  return end > 0 && end >= bytes.length * (1 - snapShare) ? bytes.subarray(0, end) : bytes;
};

const snapStart = (bytes: Uint8Array): Uint8Array => {
  const start = bytes.indexOf(newline) + 1;
  return start > 0 && start <= bytes.length * snapShare ? bytes.subarray(start) : bytes;
};

/** The number of bytes at the beginning that decode to at most `maxChars` characters. */
const bytesToTake = (bytes: Uint8Array, maxChars: number): number => {
  let index = 0;
  for (let count = 0; index < bytes.length;) {
    const length = sequenceLength(bytes, index);
    count += charsOfSequence(length);
    if (count > maxChars) return index;
    index += length;
  }
  return index;
};

/** The number of bytes to skip so that at most `maxChars` characters remain. */
const bytesToSkip = (bytes: Uint8Array, maxChars: number): number => {
  let excess = -maxChars;
  for (let index = 0; index < bytes.length;) {
    const length = sequenceLength(bytes, index);
    excess += charsOfSequence(length);
    index += length;
  }
  let index = 0;
  while (excess > 0) {
    const length = sequenceLength(bytes, index);
    excess -= charsOfSequence(length);
    index += length;
  }
  return index;
};

const charsOfSequence = (length: number): number => (length === 4 ? 2 : 1);

/** Length of the UTF-8 sequence that starts here; 1 for an invalid byte, which decodes to at most one U+FFFD. */
const sequenceLength = (bytes: Uint8Array, index: number): number => {
  const lead = bytes[index] ?? 0;
  if (lead < 0xc2 || lead > 0xf4) return 1;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const lowest = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const highest = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let offset = 1; offset < length; offset += 1) {
    const byte = bytes[index + offset] ?? 0;
    if (byte < (offset === 1 ? lowest : 0x80) || byte > (offset === 1 ? highest : 0xbf)) return 1;
  }
  return length;
};
