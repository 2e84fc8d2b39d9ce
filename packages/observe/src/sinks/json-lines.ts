import { anyFunction, nonEmptyString, checkOptions, checkValue, numberFrom, integerFrom } from '@h/options';
import { isRunEnd } from '../observation.js';
import { createEncoder, maxEncoded } from './encode.js';
import { linesFile, maxFlushMs } from './lines-file.js';
import type { Sink } from './sink.js';

/** Options of {@link jsonLinesSink}. */
export interface JsonLinesSinkOptions {
  /**
   * The size in bytes that no file grows over: the file is put aside as `<file>.1` and a new one begun.
   *
   * @defaultValue `50_000_000`
   */
  readonly maxBytes?: number | undefined;
  /**
   * How many files that were put aside are kept.
   *
   * @defaultValue `5`
   */
  readonly maxFiles?: number | undefined;
  /**
   * How long lines may be held back, in milliseconds. The end of a turn and the exit of the process flush them at once.
   *
   * @defaultValue `200`
   */
  readonly flushMs?: number | undefined;
  /**
   * Told when lines cannot be written, once until it works again.
   *
   * @defaultValue a warning of the process
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A sink that writes lines. */
export interface JsonLinesSink extends Sink {
  flush(): void;
  close(): void;
  /** How many lines could not be written. */
  readonly dropped: number;
}

/**
 * Writes each observation as a line of JSON, to a file that rotates by its size.
 *
 * The file and its folder are made when the first line is written, for the owner's eyes only (mode 0600). One file is
 * for one process.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * observe({ sinks: [jsonLinesSink('logs/runs.jsonl', { maxBytes: 10_000_000 })] });
 * ```
 */
export const jsonLinesSink = (file: string, options: JsonLinesSinkOptions = {}): JsonLinesSink => {
  checkValue('jsonLinesSink()', 'file', file, nonEmptyString);
  checkOptions('jsonLinesSink()', options, {
    maxBytes: numberFrom(1, Infinity),
    maxFiles: integerFrom(0, Infinity),
    flushMs: numberFrom(0, maxFlushMs),
    onError: anyFunction,
  });
  const { maxBytes = 50_000_000, maxFiles = 5, flushMs = 200, onError = warn(file) } = options;
  const lines = linesFile({ path: file, maxBytes, maxFiles: Math.min(maxFiles, 10_000), flushMs, onError });
  const encode = createEncoder();
  return {
    name: `json-lines ${file}`,
    write: (observation) => {
      if (!lines.isClosed && encode(observation, lines.room(maxEncoded))) lines.added();
      else lines.write(JSON.stringify(observation));
      if (isRunEnd(observation)) lines.flush();
    },
    flush: lines.flush,
    close: lines.close,
    get dropped() {
      return lines.dropped;
    },
  };
};

/** Tells of a file that cannot be written without failing for it. */
export const warn =
  (file: string) =>
  (error: unknown): void =>
    process.emitWarning(
      `Nothing can be written to ${file}: ${error instanceof Error ? error.message : String(error)}`,
      'ObserveWarning',
    );
