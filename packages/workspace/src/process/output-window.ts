/** What is kept of an output. */
export interface CapturedOutput {
  /** The beginning and the end, with a line between them that says how much was left out. */
  readonly text: string;
  /** Size of the whole output, in bytes. */
  readonly bytes: number;
  /** How much of it is not in `text`, in bytes. */
  readonly omittedBytes: number;
  /** It has NUL bytes near its beginning or end, so it is no text. */
  readonly binary: boolean;
}

/** Takes an output of any length and keeps its beginning and its end. */
export interface OutputWindow {
  write(chunk: Uint8Array): void;
  read(): CapturedOutput;
}

/** The end of a log says more than its beginning: errors, totals and exit codes are there. */
const headShare = 1 / 3;

/** A cut moves to the end of a line where that costs no more than this share of what would be shown. */
const snapShare = 0.2;

/** A UTF-16 unit takes at most three bytes of UTF-8, so an output of so many bytes a character cannot fit and is cut. */
const bytesPerChar = 3;

/**
 * Keeps at most `maxChars` characters of an output, whatever its length: memory is bounded by the limit.
 *
 * Bytes are decoded once, at the end, so characters that arrive in pieces stay whole. Bytes that are no UTF-8 become
 * U+FFFD.
 *
 * @param maxChars Counted as JavaScript counts, in UTF-16 units; the line about the omission is within it.
 */
export const outputWindow = (maxChars: number): OutputWindow => {
  const size = maxChars * bytesPerChar;
  const head = new Uint8Array(size);
  const ring = new Uint8Array(size);
  let total = 0;

  const write = (chunk: Uint8Array): void => {
    if (total < size) head.set(chunk.subarray(0, size - total), total);
    const last = chunk.subarray(Math.max(0, chunk.length - size));
    const start = size === 0 ? 0 : (total + chunk.length - last.length) % size;
    const untilEnd = last.subarray(0, size - start);
    ring.set(untilEnd, start);
    ring.set(last.subarray(untilEnd.length), 0);
    total += chunk.length;
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
        : { ...cut(first, last, total, maxChars), bytes: total, binary };
    },
  };
};

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

const marker = (omittedBytes: number): string => `\n[… ${omittedBytes.toLocaleString('en-US')} bytes omitted …]\n`;

const cut = (
  first: Uint8Array,
  last: Uint8Array,
  total: number,
  maxChars: number,
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

/** How many bytes to take for at most so many characters. */
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

/** How many bytes to skip so that at most so many characters are left. */
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

/** Length of the character that begins here; 1 for a byte that belongs to none, which is decoded to one U+FFFD or less. */
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
