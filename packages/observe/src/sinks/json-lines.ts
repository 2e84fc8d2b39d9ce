import { toErrorInfo } from '@h/turn';
import { anyFunction, nonEmptyString, checkOptions, checkValue, numberFrom, integerFrom, maxTimerMs } from '@h/options';
import { isRunEnd } from '../observation.js';
import { createEncoder, maxEncoded } from './encode.js';
import { linesFile } from './lines-file.js';
import type { Sink } from './sink.js';

/** Options of {@link jsonLinesSink}. */
export interface JsonLinesSinkOptions {
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
  /**
   * Maximum delay of a write in milliseconds. The end of a turn and the exit of the process flush immediately.
   *
   * @defaultValue `200`, one write for many lines, and a reader notices no delay
   */
  readonly flushMs?: number | undefined;
  /**
   * Called for the first of consecutive write failures.
   *
   * @defaultValue a process warning
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A sink that writes JSON lines to a file. */
export interface JsonLinesSink extends Sink {
  flush(): void;
  close(): void;
  /** Number of lines that were dropped because a write failed or the sink was closed. */
  readonly dropped: number;
}

/**
 * Creates a sink that writes each observation as a line of JSON to a file, with rotation by size.
 *
 * The first write creates the file and its folder; only the owner can read the file (mode 0600). Processes must not
 * share a file.
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
    flushMs: numberFrom(0, maxTimerMs),
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

/** Returns an error handler that emits a process warning. */
export const warn =
  (file: string) =>
  (error: unknown): void =>
    process.emitWarning(`Nothing can be written to ${file}: ${toErrorInfo(error).message}`, 'ObserveWarning');
