import type { ErrorInfo, JSONObject, TurnOutcome, TurnPriority, TurnTrigger } from '@h/turn';

/**
 * What happens to a message that arrives while a turn runs. Without a running turn, each message starts one.
 *
 * - `steer`: it is added to the running turn at its next step; if it is too late for that, to the next turn
 * - `followup`: it waits for the end of the turn and gets a separate turn
 * - `collect`: it waits for the end of the turn and for a pause, and shares one turn with the other waiting messages
 * - `interrupt`: it cancels the running turn, and shares the next one with the undelivered messages
 */
export type InboxMode = 'steer' | 'followup' | 'collect' | 'interrupt';

/** Options of `inbox.send()`. */
export interface SendOptions {
  /**
   * The id of the message at its source. A message with the same id and session is delivered once. The latest 1000
   * delivered ids are remembered, by this process or by the store.
   */
  readonly id?: string | undefined;
  /** @defaultValue the mode of the inbox */
  readonly mode?: InboxMode | undefined;
  /** What caused the message. @defaultValue `'user'` */
  readonly trigger?: TurnTrigger | undefined;
  /** The priority of the turn that the message starts. @defaultValue by `trigger` */
  readonly priority?: TurnPriority | undefined;
  /** Data of the application, which the turn has in `turn.start`. */
  readonly metadata?: JSONObject | undefined;
}

/** It is in the history: as the input of a turn, or steered into one. */
export interface Delivered {
  readonly status: 'delivered';
  readonly how: 'turn' | 'steered';
  /** Id of the turn; empty if an earlier process delivered the message and died before it recorded the turn. */
  readonly turn: string;
}

/** The result of sending a message. */
export type Delivery =
  | Delivered
  /** The session was full, or the inbox was closed. */
  | { readonly status: 'dropped'; readonly reason: 'full' | 'closed' }
  /**
   * Its turn ended before the message was known to be in the history.
   *
   * - `failed`: if a store or an operator failed (`error`), the history may contain it all the same. It may be sent
   *   again.
   * - `kept`: the inbox or its lanes were closed, or the store could not delete it. The store keeps it for the next
   *   `recover()`.
   */
  | {
      readonly status: 'failed' | 'kept';
      readonly outcome: TurnOutcome;
      readonly reason?: string | undefined;
      readonly error?: ErrorInfo | undefined;
    };

/** A sent message: a promise of its delivery, which never rejects. */
export interface Sent extends Promise<Delivery> {
  /**
   * `true` once the message is stored and will be delivered exactly once, even after a crash. `false` if there is no
   * store, the store failed, or the message was refused because the session is full. It never rejects.
   */
  readonly accepted: Promise<boolean>;
}
