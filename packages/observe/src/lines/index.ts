import { checkOptions, checkValue, anyFunction, integerFrom, nonEmptyString } from '@h/options';
import { warn } from '../sinks/json-lines.js';
import { linesFile } from '../sinks/lines-file.js';

/** Options of {@link rotatingLines}. */
export interface RotatingLinesOptions {
  /**
   * Maximum size of a file in bytes; a larger one is rotated to `<file>.1`.
   *
   * @defaultValue `50_000_000`, with the rotated ones 300 MB at most
   */
  readonly maxBytes?: number | undefined;
  /**
   * Maximum number of rotated files.
   *
   * @defaultValue `5`
   */
  readonly maxFiles?: number | undefined;
  /** Called for the first of consecutive write failures. @defaultValue a process warning */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A file of lines that rotates by size. */
export interface RotatingLines {
  /** Writes a line before it returns: the line survives `kill -9`. Never throws. */
  write(line: string): void;
  close(): void;
  /** Number of lines that were dropped because a write failed or the file was closed. */
  readonly dropped: number;
}

/**
 * Opens a log that rotates by size, for lines that are not observations.
 *
 * The first write creates the file and its folder; only the owner can read the file (mode 0600).
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const log = rotatingLines('logs/calls.jsonl', { maxBytes: 10_000_000 });
 * log.write(JSON.stringify({ type: 'call' }));
 * ```
 */
export const rotatingLines = (file: string, options: RotatingLinesOptions = {}): RotatingLines => {
  checkValue('rotatingLines()', 'file', file, nonEmptyString);
  checkOptions('rotatingLines()', options, {
    maxBytes: integerFrom(1),
    maxFiles: integerFrom(0, 10_000),
    onError: anyFunction,
  });
  const { maxBytes = 50_000_000, maxFiles = 5, onError = warn(file) } = options;
  const lines = linesFile({ path: file, maxBytes, maxFiles, flushMs: 0, onError });
  return {
    write: (line) => {
      lines.write(line);
      lines.flush();
    },
    close: lines.close,
    get dropped() {
      return lines.dropped;
    },
  };
};
