import type { UserMessage } from '@h/turn';
import type { Delivered, InboxMode, SendOptions } from './delivery.js';

/** A message as an inbox keeps it until it is known what became of it: plain data, but for bytes and URLs in its content. */
export interface KeptMessage {
  /** Tells it from all others, of other processes too. It is part of its `metadata`, and so in the history that has it. */
  readonly tag: string;
  readonly session: string;
  readonly message: UserMessage;
  readonly mode: InboxMode;
  readonly mergeKey: string;
  readonly options: SendOptions;
}

/** What became of the message that had this id. */
export interface KnownDelivery {
  readonly session: string;
  readonly id: string;
  readonly delivery: Delivered;
}

/** What an earlier process has left. */
export interface InboxContents {
  /** In the order in which they were saved. */
  readonly messages: readonly KeptMessage[];
  /** In the order in which they were delivered; the store says how many it remembers. */
  readonly delivered: readonly KnownDelivery[];
}

/**
 * Where an inbox keeps its messages, so that they survive the process. `fileInboxStore()` of `@h/queue/file-store` is one.
 *
 * Contract:
 * - It belongs to one inbox at a time, over all processes: `open` fails while another one has it, and once it was taken away
 *   every other method does.
 * - What a method has confirmed survives the end of the process. What it has refused has not happened.
 * - Calls are performed in their order.
 */
export interface InboxStore {
  /** Takes the store, and brings what is in it. Called first; after a failure it may be called again. */
  open(): Promise<InboxContents>;
  /** Keeps a message. */
  save(message: KeptMessage): Promise<void>;
  /** Forgets a message, and remembers under which id it was delivered, if it was and had one. */
  remove(tag: string, delivered?: KnownDelivery): Promise<void>;
  /** Rejects if another process has taken over the store. */
  check(): Promise<void>;
  /** Releases the store after all pending operations. */
  close(): Promise<void>;
}
