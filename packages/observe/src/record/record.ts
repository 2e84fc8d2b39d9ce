import { intercept, TurnError, type TurnEvent, type TurnEventOf, type TurnOperator } from '@h/turn';
import {
  anyBoolean,
  anyFunction,
  nonEmptyString,
  checkOptions,
  checkValue,
  anyOf,
  integerFrom,
  numberFrom,
  oneOf,
  maxTimerMs,
} from '@h/options';
import { monotonicClock } from '../clock.js';
import type { RedactEvent, TextRules } from '../plain-data.js';
import { round } from '../model-watch.js';
import { hashSessionKey } from '../session-key.js';
import { warn } from '../sinks/json-lines.js';
import { linesFile, type LinesFile } from '../sinks/lines-file.js';
import { recordLine, withoutHistory } from './record-line.js';

/** Options of {@link record}. */
export interface RecordOptions {
  /**
   * Removes secrets from each event before it is recorded, as `eventRedactor(redactor)` of `@h/redact` does. An event
   * for which it throws is not recorded.
   *
   * @defaultValue events are used as they are
   */
  readonly redact?: RedactEvent | undefined;
  /**
   * Whether the recording includes messages of users, models and tools. Without them it shows times and tokens only.
   *
   * @defaultValue `true`
   */
  readonly content?: boolean | undefined;
  /**
   * Maximum length of a string.
   *
   * @defaultValue `20_000`, about 5,000 tokens
   */
  readonly maxContentChars?: number | undefined;
  /**
   * Maximum size of one turn in characters. Beyond it, only the end of the turn is recorded.
   *
   * @defaultValue `100_000_000`
   */
  readonly maxChars?: number | undefined;
  /**
   * Maximum size of a file in bytes; a larger one is rotated to `<file>.1`. A turn that is running then continues in
   * the new file.
   *
   * @defaultValue `Infinity`
   */
  readonly maxBytes?: number | undefined;
  /**
   * Maximum number of rotated files.
   *
   * @defaultValue `5`
   */
  readonly maxFiles?: number | undefined;
  /**
   * Names sessions by a hash or in plain text.
   *
   * @defaultValue `'hash'`
   */
  readonly sessionKey?: 'hash' | 'plain' | undefined;
  /**
   * Maximum delay of a write in milliseconds. Lines are also written before a model or tool is called, and at the end.
   *
   * @defaultValue `100`, one write for many deltas, and little is lost in a crash
   */
  readonly flushMs?: number | undefined;
  /** Called for the first of consecutive write failures. @defaultValue a process warning */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** A monotonic clock in milliseconds. @defaultValue `performance.now` */
  readonly clock?: (() => number) | undefined;
}

/**
 * Writes the events of each turn to a file, one line for each, for `h-trace`. It does not affect the turn.
 *
 * Deltas are counted, not written. A file may contain many turns, also concurrent ones. Written lines survive
 * `kill -9`; a torn last line is skipped when the file is read. Events that a resume replays are not written again.
 *
 * @param file the file, or a function that returns one for each turn
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * harness(drivers).pipe(guardrails(), observe(), record('turn.jsonl', { redact: eventRedactor(createRedactor()) }));
 * ```
 */
export const record = (
  file: string | ((start: TurnEventOf<'turn.start'>) => string),
  options: RecordOptions = {},
): TurnOperator => {
  checkValue('record()', 'file', file, anyOf(nonEmptyString, anyFunction));
  checkOptions('record()', options, {
    redact: anyFunction,
    content: anyBoolean,
    maxContentChars: numberFrom(0, Infinity),
    maxChars: numberFrom(0, Infinity),
    maxBytes: numberFrom(1, Infinity),
    maxFiles: integerFrom(0, 10_000),
    sessionKey: oneOf('hash', 'plain'),
    flushMs: numberFrom(0, maxTimerMs),
    onError: anyFunction,
    clock: anyFunction,
  });
  const {
    redact = (event) => event,
    content = true,
    maxContentChars = 20_000,
    maxChars = 100_000_000,
    maxBytes = Infinity,
    maxFiles = 5,
    sessionKey = 'hash',
    flushMs = 100,
    onError,
  } = options;
  const { clock = monotonicClock } = options;
  const rules: TextRules = {
    content,
    maxContentChars,
    session: sessionKey === 'hash' ? (session) => hashSessionKey(session) : (session) => session,
  };
  return intercept('record', () => {
    let begun: TurnEventOf<'turn.start'> | undefined;
    let isLive = false;
    let lines: LinesFile | undefined;
    let seq = 0;
    let deltas = 0;
    let firstDeltaMs: number | undefined;
    let chars = 0;
    let report: (error: unknown) => void = onError ?? (() => undefined);

    const open = (start: TurnEventOf<'turn.start'>): LinesFile => {
      const path = typeof file === 'function' ? file(start) : file;
      report = onError ?? warn(path);
      return linesFile({ path, maxBytes, maxFiles, flushMs, onError: report });
    };
    const write = (event: TurnEvent): void => {
      const isAnswer = event.type === 'model.response' || event.type === 'model.error';
      const line = recordLine(
        { seq, ms: round(clock()), ...(isAnswer && { deltas, firstDeltaMs }) },
        redact(withoutHistory(event)),
        rules,
      );
      if (isAnswer) [deltas, firstDeltaMs] = [0, undefined];
      seq += 1;
      chars += line.length;
      if (chars > maxChars && event.type !== 'turn.end') return;
      if (begun !== undefined) lines ??= open(begun);
      lines?.write(line);
      if (flushed.has(event.type)) lines?.flush();
    };
    return {
      observe: {
        '*': (event) => {
          if (event.type === 'model.delta') {
            if (deltas === 0) firstDeltaMs = round(clock());
            deltas += 1;
            return;
          }
          if (event.type === 'tool.progress') return;
          if (event.type === 'turn.start') begun = event;
          if (isLive) guarded(() => write(event), report);
          else seq += 1;
        },
      },
      start: () => {
        isLive = true;
      },
      finalize: () => lines?.close(),
    };
  });
};

/** Event types that flush the file: those before effects, and the end. */
const flushed: ReadonlySet<string> = new Set(['model.request', 'tool.call', 'turn.end']);

const guarded = (work: () => void, report: (error: unknown) => void): void => {
  try {
    work();
  } catch (error) {
    try {
      report(new TurnError('not-recorded', 'An event could not be recorded.', { cause: error }));
    } catch {
      // An error handler that throws must not cause further errors.
    }
  }
};
