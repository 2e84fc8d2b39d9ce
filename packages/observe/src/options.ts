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
import type { RedactEvent } from './plain-data.js';
import type { Sink } from './sinks/sink.js';
import type { UsageMeter } from './usage/usage-meter.js';

/** Options of {@link observe}. */
export interface ObserveOptions {
  /**
   * Receive observations.
   *
   * @defaultValue none; only the meter receives usage
   */
  readonly sinks?: readonly Sink[] | undefined;
  /** Counts usage and cost of model calls. Session totals are stored in the session. */
  readonly meter?: UsageMeter | undefined;
  /**
   * Computes the cost of a call.
   *
   * @defaultValue that of the meter; otherwise costs are unknown
   */
  readonly costOf?: CostOf | undefined;
  /** Name of this harness, to distinguish several in one log. */
  readonly harnessId?: string | undefined;
  /**
   * Names sessions: by a hash, in plain text, or with a function. Session names often identify people.
   *
   * @defaultValue `'hash'`
   */
  readonly sessionKey?: 'hash' | 'plain' | ((session: string) => string) | undefined;
  /** A secret for the hash of session keys. Without it, a guessed session name can be verified. */
  readonly sessionSalt?: string | undefined;
  /**
   * Origin of the turn (`whatsapp`, `terminal`).
   *
   * @defaultValue `metadata.channel` of the turn
   */
  readonly channel?: string | ((start: TurnEventOf<'turn.start'>) => string | undefined) | undefined;
  /**
   * Id of the parent turn.
   *
   * @defaultValue `metadata.parentTurn` of the turn
   */
  readonly parentOf?: ((start: TurnEventOf<'turn.start'>) => string | undefined) | undefined;
  /**
   * Provider of a model without a `provider/` prefix.
   *
   * @defaultValue unknown
   */
  readonly provider?: string | ((model: string | undefined) => string | undefined) | undefined;
  /** The model that answers side questions (summaries), for their cost. @defaultValue unknown, and so is their cost */
  readonly sideModel?: string | undefined;
  /**
   * Whether observations include messages of users and models, and input and output of tools.
   *
   * @defaultValue `false`
   */
  readonly content?: boolean | undefined;
  /**
   * Maximum length of one content, in characters.
   *
   * @defaultValue `4000`, about 1,000 tokens
   */
  readonly maxContentChars?: number | undefined;
  /**
   * Removes secrets from each event before it is observed, as `eventRedactor(redactor)` of `@h/redact` does. An event
   * for which it throws is counted and not emitted.
   *
   * @defaultValue events are used as they are
   */
  readonly redact?: RedactEvent | undefined;
  /**
   * Whether run events have `approximateTokens`, for providers that report no usage. Reads each new message once.
   *
   * @defaultValue `false`
   */
  readonly approximateTokens?: boolean | undefined;
  /**
   * Called when a sink fails for the first time in a turn, and when it is disabled for the rest of the turn. With the
   * name `observe` it receives the first failure of another function of these options, such as `redact`.
   *
   * @defaultValue a process warning (`ObserveWarning`)
   */
  readonly onSinkError?: ((error: unknown, sink: string) => void) | undefined;
  /**
   * A monotonic clock in milliseconds, for durations.
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

/** @throws InvalidOptionError `invalid-option` with the option, its value and the accepted values */
export const checkObserveOptions = (options: ObserveOptions): void =>
  checkOptions('observe()', options, {
    sinks: arrayOf(aSink),
    meter: objectWithMethods('begin', 'record', 'end', 'extra', 'addExtra', 'snapshot', 'restore', 'costOf'),
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
