import type { CostOf } from '@h/prices';
import type { TurnEventOf } from '@h/turn';
import {
  anyBoolean,
  anyFunction,
  nonEmptyString,
  checkOptions,
  anyOf,
  arrayOf,
  numberFrom,
  objectWithMethods,
  oneOf,
  type OptionCheck,
} from '@h/options';
import type { Sink } from './sinks/sink.js';
import type { UsageMeter } from './usage/usage-meter.js';

/** Options of {@link observe}. */
export interface ObserveOptions {
  /**
   * Where observations go.
   *
   * @defaultValue none: then only the meter is fed
   */
  readonly sinks?: readonly Sink[] | undefined;
  /** Counts what model calls use and cost. It keeps the totals of a session in the session. */
  readonly meter?: UsageMeter | undefined;
  /**
   * What calls cost.
   *
   * @defaultValue that of the meter, else no cost is known
   */
  readonly costOf?: CostOf | undefined;
  /** The name of this harness, for logs of several. */
  readonly harnessId?: string | undefined;
  /**
   * How sessions are named: by a hash, in the clear, or by a function of yours. Sessions are often named after people.
   *
   * @defaultValue `'hash'`
   */
  readonly sessionKey?: 'hash' | 'plain' | ((session: string) => string) | undefined;
  /** A secret for the hash of session keys: without it, who guesses a name can check the guess. */
  readonly sessionSalt?: string | undefined;
  /**
   * Where the turn comes from (`whatsapp`, `terminal`).
   *
   * @defaultValue `metadata.channel` of the turn
   */
  readonly channel?: string | ((start: TurnEventOf<'turn.start'>) => string | undefined) | undefined;
  /**
   * The turn that asked for this one.
   *
   * @defaultValue `metadata.parentTurn` of the turn
   */
  readonly parentOf?: ((start: TurnEventOf<'turn.start'>) => string | undefined) | undefined;
  /**
   * The provider of a model that is not named `provider/model`.
   *
   * @defaultValue unknown
   */
  readonly provider?: string | ((model: string | undefined) => string | undefined) | undefined;
  /** The model that answers side questions (summaries), for their cost. @defaultValue unknown, so their cost is */
  readonly sideModel?: string | undefined;
  /**
   * Whether observations carry what users and models say, and input and output of tools.
   *
   * @defaultValue `false`
   */
  readonly content?: boolean | undefined;
  /**
   * How many characters of one content are kept.
   *
   * @defaultValue `4000`
   */
  readonly maxContentChars?: number | undefined;
  /** Takes secrets out of all free text: content, messages of errors, reasons, texts in notices. */
  readonly redact?: ((text: string) => string) | undefined;
  /**
   * Whether the run event has `approximateTokens`, for providers that count nothing. It reads each new message once.
   *
   * @defaultValue `false`
   */
  readonly approximateTokens?: boolean | undefined;
  /**
   * Told when a sink fails: the first time in a turn, and when it is left out of the rest of the turn. Under the name
   * `observe` it is told of the first failure of another function that was given here, such as `redact`.
   */
  readonly onSinkError?: ((error: unknown, sink: string) => void) | undefined;
  /**
   * Milliseconds of a clock that never goes back, for durations.
   *
   * @defaultValue `performance.now`
   */
  readonly clock?: (() => number) | undefined;
}

const aSink: OptionCheck = {
  accepts: (value) =>
    anyOf(objectWithMethods('write'), objectWithMethods('follow')).accepts(value) &&
    nonEmptyString.accepts((value as { name?: unknown }).name),
  expected: 'a sink: an object with a name, and write() or follow()',
};

/** @throws InvalidOptionError `invalid-option` that names the option, its value and what it takes */
export const checkObserveOptions = (options: ObserveOptions): void =>
  checkOptions('observe()', options, {
    sinks: arrayOf(aSink),
    meter: objectWithMethods('begin', 'record', 'snapshot', 'restore', 'costOf'),
    costOf: anyFunction,
    harnessId: nonEmptyString,
    sessionKey: anyOf(oneOf('hash', 'plain'), anyFunction),
    sessionSalt: nonEmptyString,
    channel: anyOf(nonEmptyString, anyFunction),
    parentOf: anyFunction,
    provider: anyOf(nonEmptyString, anyFunction),
    sideModel: nonEmptyString,
    content: anyBoolean,
    maxContentChars: numberFrom(0, Infinity),
    redact: anyFunction,
    approximateTokens: anyBoolean,
    onSinkError: anyFunction,
    clock: anyFunction,
  });
