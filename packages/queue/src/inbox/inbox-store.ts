import type { ErrorInfo, UserMessage } from '@h/turn';
import type { Delivered, InboxMode, SendOptions } from './delivery.js';

/** A stored message whose delivery is not known yet: plain data, except bytes and URLs in its content. */
export interface KeptMessage {
  /** Identifies the message across processes. It is part of the message's `metadata`, so the history contains it. */
  readonly tag: string;
  readonly session: string;
  readonly message: UserMessage;
  readonly mode: InboxMode;
  readonly mergeKey: string;
  readonly options: SendOptions;
}

/** The delivery of the message with this id. */
export interface KnownDelivery {
  readonly session: string;
  readonly id: string;
  readonly delivery: Delivered;
}

/** Messages and deliveries of earlier processes. */
export interface InboxContents {
  /** In the order in which they were saved. */
  readonly messages: readonly KeptMessage[];
  /** In the order of delivery. The store decides how many it remembers. */
  readonly delivered: readonly KnownDelivery[];
}

/**
 * Stores the messages of an inbox, so that they survive the process, as `fileInboxStore()` of `@h/queue/file-store`
 * does.
 *
 * Contract:
 * - One inbox uses it at a time, over all processes: `open` fails while another one holds it, and every method fails
 *   after another one has taken it over.
 * - A confirmed operation survives the end of the process. A rejected operation has no effect.
 * - Operations are performed in the order of the calls.
 *
 * An operation that does not settle within 120 s counts as rejected, with the code `inbox-store-timeout`. If it stores or
 * deletes a message afterwards, the inbox undoes that.
 */
export interface InboxStore {
  /** Locks the store and returns its contents. Called first; after a failure it may be called again. */
  open(): Promise<InboxContents>;
  /** Stores a message. */
  save(message: KeptMessage): Promise<void>;
  /** Deletes a message and, if it was delivered and had an id, remembers its delivery. */
  remove(tag: string, delivered?: KnownDelivery): Promise<void>;
  /**
   * Rejects if another process has taken over the store. Before a turn begins, the inbox passes the session and the tag
   * of the first message for it: a store that several inboxes share also rejects if an earlier message of the session
   * belongs to another one.
   */
  check(session?: string, tag?: string): Promise<void>;
  /**
   * Returns whether a message stays stored after its turn failed with this error, because another process will deliver
   * it. The turn may be resumed there. Without this method, the message is deleted and can be sent again.
   */
  keeps?(error: ErrorInfo): boolean;
  /**
   * Leaves a message that stays stored to another inbox, which will deliver it before later messages of its session.
   * Without this method, it stays with this inbox until the store is closed.
   */
  leave?(tag: string): Promise<void>;
  /** Releases the store after all pending operations. */
  close(): Promise<void>;
}
