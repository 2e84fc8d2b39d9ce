import type { ErrorInfo, JSONObject, TurnOutcome, TurnPriority, TurnTrigger } from '@h/turn';

/**
 * What a message does that arrives while a turn runs. Without a running turn, each message begins one.
 *
 * - `steer`: is added to the running turn at its next step; if it is too late for that, to the next turn
 * - `followup`: waits for the end of the turn and gets its own turn
 * - `collect`: waits for the end of the turn and for a pause, and shares one turn with the others that wait
 * - `interrupt`: cancels the running turn, and shares the next one with what was not delivered
 */
export type InboxMode = 'steer' | 'followup' | 'collect' | 'interrupt';

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
   * once. `false` if it is not: there is no store, it failed, or it was refused because too many wait. It never rejects.
   */
  readonly accepted: Promise<boolean>;
}
