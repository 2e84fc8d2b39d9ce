import type { SessionStore, UserMessage } from '@h/turn';
import {
  anyFunction,
  anyObject,
  nonEmptyString,
  checkOptions,
  numberFrom,
  objectWithMethods,
  oneOf,
  required,
  integerFrom,
  type OptionChecks,
} from '@h/options';
import type { SchedulerLike } from 'rxjs';
import type { FullPolicy } from '../lanes/bounds.js';
import type { InboxMode, SendOptions } from './delivery.js';
import type { InboxStore } from './inbox-store.js';

/** Options of {@link createInbox}. */
export interface InboxOptions {
  /**
   * What happens to messages that arrive while a turn runs.
   *
   * @defaultValue `'steer'`, as in OpenClaw
   */
  readonly mode?: InboxMode | undefined;
  /**
   * Length of the pause that ends a collection, in milliseconds.
   *
   * @defaultValue `500`, as in OpenClaw
   */
  readonly debounceMs?: number | undefined;
  /**
   * Longest collection, in milliseconds, even if messages keep arriving.
   *
   * @defaultValue `5000`, ten pauses
   */
  readonly maxDebounceMs?: number | undefined;
  /**
   * Maximum number of pending messages in a session; and of messages that are being steered into a running turn.
   *
   * @defaultValue `20`, as in OpenClaw
   */
  readonly maxPending?: number | undefined;
  /**
   * What happens if a session is full: the new message is refused (`reject`), or the one that has waited longest
   * (`drop-oldest`) or shortest (`drop-newest`) is dropped for it. With `summarize` the oldest is dropped, and the next
   * turn receives a summary. The promise of a dropped message resolves to `dropped`.
   *
   * @defaultValue `'reject'`
   */
  readonly whenFull?: FullPolicy | undefined;
  /**
   * Only messages with the same key share a turn, such as those with the same source and rights.
   *
   * @defaultValue trigger, priority and metadata
   */
  readonly mergeKeyOf?: ((message: UserMessage, options: SendOptions) => string) | undefined;
  /**
   * Stores each message until its delivery is known, so that no message is lost with the process or delivered twice:
   * `fileInboxStore()` of `@h/queue/file-store`. With a store, messages enter turns after the first `recover()`.
   *
   * @defaultValue none: pending messages are lost with the process
   */
  readonly store?: InboxStore | undefined;
  /**
   * The clock and the timers of collections.
   *
   * @defaultValue timers of the system and a monotonic clock
   */
  readonly scheduler?: SchedulerLike | undefined;
}

/** Options of `inbox.recover()`. */
export interface InboxRecoverOptions {
  /** The session store of the agent. Messages that its histories contain are not delivered again. */
  readonly sessions: SessionStore;
}

const modes = oneOf('steer', 'followup', 'collect', 'interrupt');

const checks: OptionChecks<InboxOptions> = {
  mode: modes,
  debounceMs: numberFrom(0, Infinity),
  maxDebounceMs: numberFrom(0, Infinity),
  maxPending: integerFrom(1, Infinity),
  whenFull: oneOf('reject', 'drop-oldest', 'drop-newest', 'summarize'),
  mergeKeyOf: anyFunction,
  store: objectWithMethods('open', 'save', 'remove', 'check', 'close'),
  scheduler: objectWithMethods('now', 'schedule'),
};

const sendChecks: OptionChecks<SendOptions> = {
  id: nonEmptyString,
  mode: modes,
  trigger: nonEmptyString,
  priority: oneOf('foreground', 'normal', 'background'),
  metadata: anyObject,
};

/** @throws InvalidOptionError that names the option, its value and what it accepts */
export const checkInboxOptions = (options: InboxOptions): void => checkOptions('createInbox()', options, checks);

/** @throws InvalidOptionError that names the option, its value and what it accepts */
export const checkSendOptions = (options: SendOptions): void => checkOptions('send()', options, sendChecks);

/** @throws InvalidOptionError that names the option, its value and what it accepts */
export const checkRecoverOptions = (options: InboxRecoverOptions): void =>
  checkOptions('recover()', options, { sessions: required(objectWithMethods('open', 'locate', 'unfinished')) });
