import type { ErrorInfo, JSONObject, SessionStore, TurnOutcome, TurnPriority, TurnTrigger, UserMessage } from '@h/turn';
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
import type { FullPolicy } from '../bounds.js';
import type { InboxStore } from './inbox-store.js';

/**
 * What a message does that arrives while a turn runs. Without a running turn, each message begins one.
 *
 * - `steer`: is added to the running turn at its next step; if it is too late for that, to the next turn
 * - `followup`: waits for the end of the turn and gets its own turn
 * - `collect`: waits for the end of the turn and for a pause, and shares one turn with the others that wait
 * - `interrupt`: cancels the running turn, and shares the next one with what was not delivered
 */
export type InboxMode = 'steer' | 'followup' | 'collect' | 'interrupt';

/** Options of {@link createInbox}. */
export interface InboxOptions {
  /** @defaultValue `'steer'` */
  readonly mode?: InboxMode | undefined;
  /**
   * Length of the pause that ends a collection, in milliseconds.
   *
   * @defaultValue `500`
   */
  readonly debounceMs?: number | undefined;
  /**
   * Longest collection, in milliseconds, even if messages keep arriving.
   *
   * @defaultValue `5000`
   */
  readonly maxDebounceMs?: number | undefined;
  /**
   * How many messages may wait in a session, without those that were given to a turn; and how many may be on their way
   * into a running turn.
   *
   * @defaultValue `20`
   */
  readonly maxPending?: number | undefined;
  /**
   * What happens to one too many: it is refused (`reject`), or the one that has waited longest (`drop-oldest`) or shortest
   * (`drop-newest`) is dropped for it; with `summarize` the next turn receives a summary of them. The
   * promise of a dropped message resolves to `dropped`.
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
   * Keeps each message until it is known what became of it, so that none is lost with the process and none delivered twice:
   * `fileInboxStore()` of `@h/queue/file-store`. With one, messages go into turns from the first `recover()` on.
   *
   * @defaultValue none: what waits is forgotten with the process
   */
  readonly store?: InboxStore | undefined;
  /** @defaultValue timers of the system and a monotonic clock */
  readonly scheduler?: SchedulerLike | undefined;
}

/** Options of `inbox.send()`. */
export interface SendOptions {
  /**
   * The id that the message has where it comes from: the same id of the same session is delivered once. The latest 1000 that
   * were delivered are remembered: by this process, or by the store.
   */
  readonly id?: string | undefined;
  /** @defaultValue that of the inbox */
  readonly mode?: InboxMode | undefined;
  readonly trigger?: TurnTrigger | undefined;
  readonly priority?: TurnPriority | undefined;
  readonly metadata?: JSONObject | undefined;
}

/** Options of `inbox.recover()`. */
export interface RecoverOptions {
  /** Where the agent's sessions are kept: what their histories have already is not delivered again. */
  readonly sessions: SessionStore;
}

/** It is in the history: as the input of a turn, or steered into one. */
export interface Delivered {
  readonly status: 'delivered';
  readonly how: 'turn' | 'steered';
  /** Id of the turn; empty if an earlier process delivered the message and died before it recorded the turn. */
  readonly turn: string;
}

/** What became of a message. */
export type Delivery =
  | Delivered
  /** Too many were waiting, or the inbox was closed. */
  | { readonly status: 'dropped'; readonly reason: 'full' | 'closed' }
  /**
   * Its turn ended before the message was known to be in the history.
   *
   * - `failed`: after an `error` of a store or an operator it may be there all the same. It may be sent again.
   * - `kept`: the inbox or its lanes were closed, or the store could not forget it: it is in the store, and delivered after a `recover()`.
   */
  | {
      readonly status: 'failed' | 'kept';
      readonly outcome: TurnOutcome;
      readonly reason?: string | undefined;
      readonly error?: ErrorInfo | undefined;
    };

/** A message that was sent: the promise of what becomes of it, which never rejects. */
export interface Sent extends Promise<Delivery> {
  /**
   * `true` as soon as the message is safe in the store and waits for its turn: whatever happens to the process, it is delivered
   * once. `false` where it is not: there is no store, it failed, or it was refused because too many wait. It never rejects.
   */
  readonly accepted: Promise<boolean>;
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

/** @throws InvalidOptionError that names the option, its value and what it takes */
export const checkInboxOptions = (options: InboxOptions): void => checkOptions('createInbox()', options, checks);

/** @throws InvalidOptionError that names the option, its value and what it takes */
export const checkSendOptions = (options: SendOptions): void => checkOptions('send()', options, sendChecks);

/** @throws InvalidOptionError that names the option, its value and what it takes */
export const checkRecoverOptions = (options: RecoverOptions): void =>
  checkOptions('recover()', options, { sessions: required(objectWithMethods('open', 'locate', 'unfinished')) });
