import { toErrorInfo } from '@h/turn';
import type { Delivered, Delivery } from './delivery.js';
import type { InboxContents, InboxStore, KeptMessage, KnownDelivery } from './inbox-store.js';

/** Stores the messages of an inbox until their delivery is known. */
export class MessageStorage {
  readonly #store: InboxStore;
  readonly #onOpen: (contents: InboxContents) => void;
  #opening: Promise<void> | undefined;
  /** Resolves when everything that was saved until now is stored. */
  #saved: Promise<unknown> = Promise.resolve();
  /** Pending deletions, by session. */
  readonly #removals = new Map<string, Promise<void>>();
  /** Delivered messages that the store could not delete. The deletion is retried. */
  readonly #overdue = new Map<string, KnownDelivery | undefined>();
  #isClosing = false;

  constructor(store: InboxStore, onOpen: (contents: InboxContents) => void) {
    this.#store = store;
    this.#onOpen = onOpen;
  }

  /** Opens the store once; tries again after a failure. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  /** Stores a message. Messages are confirmed in the order of the calls. */
  save(message: KeptMessage): Promise<void> {
    const before = this.#saved;
    const saving = this.#store.save(message);
    const saved = before.then(() => saving);
    this.#saved = saved.catch(() => undefined);
    // An earlier write may still be pending when this one fails.
    saving.catch(() => undefined);
    return saved;
  }

  /** Deletes a message. @returns its delivery once that is done, or `kept` */
  settle(message: KeptMessage, delivery: Delivery): Promise<Delivery> {
    if (this.staysKept(delivery)) {
      const left = this.#leave(message);
      this.#track(message.session, left);
      return left.then(() => kept(delivery));
    }
    const settled =
      delivery.status === 'delivered' ? this.#delivered(message, delivery) : this.#undelivered(message, delivery);
    this.#track(message.session, settled);
    return settled;
  }

  /** Returns whether a later process may deliver the message because this one will not. */
  staysKept(delivery: Delivery): boolean {
    if (delivery.status === 'dropped') return delivery.reason === 'closed';
    if (delivery.status !== 'failed') return false;
    const { error } = delivery;
    return this.#isClosing || error?.code === 'lane-closed' || (error && this.#store.keeps?.(error)) === true;
  }

  /**
   * Waits for pending deletions of messages that are in the history. The turn may replace the history, and the messages
   * would not be found in it again. A failed deletion does not stop the turn; a store that was taken over does.
   */
  async beforeTurn(session: string, tag: string | undefined): Promise<void> {
    await this.#removals.get(session);
    await this.#store.check(session, tag);
  }

  /** Resolves when no deletion is pending. */
  async settled(): Promise<void> {
    await Promise.all(this.#removals.values());
  }

  /** From now on, keeps undelivered messages for the next process. */
  beginToClose(): void {
    this.#isClosing = true;
  }

  /** Releases the store after all pending operations. */
  async close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#saved;
    await this.#forgetOverdue();
    await this.#store.close();
  }

  async #open(): Promise<void> {
    try {
      this.#onOpen(await this.#store.open());
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  async #delivered({ tag, session, options: { id } }: KeptMessage, delivery: Delivered): Promise<Delivery> {
    this.#overdue.set(tag, id === undefined ? undefined : { session, id, delivery });
    await this.#forgetOverdue();
    return delivery;
  }

  async #undelivered({ tag }: KeptMessage, delivery: Delivery): Promise<Delivery> {
    try {
      await this.#store.remove(tag);
      return delivery;
    } catch (error) {
      return kept(delivery, error);
    }
  }

  async #leave({ tag }: KeptMessage): Promise<void> {
    // The store itself is left to the next process when it is closed.
    if (this.#isClosing) return;
    await this.#store.leave?.(tag).catch(() => undefined);
  }

  #track(session: string, removal: Promise<unknown>): void {
    const all = Promise.all([this.#removals.get(session), removal]).then(() => {
      if (this.#removals.get(session) === all) this.#removals.delete(session);
    });
    this.#removals.set(session, all);
  }

  async #forgetOverdue(): Promise<void> {
    const overdue = [...this.#overdue];
    this.#overdue.clear();
    const removals = await Promise.allSettled(overdue.map(([tag, known]) => this.#store.remove(tag, known)));
    for (const [index, [tag, known]] of overdue.entries()) {
      if (removals[index]?.status === 'rejected') this.#overdue.set(tag, known);
    }
  }
}

const kept = (delivery: Delivery, error?: unknown): Delivery => {
  const {
    outcome,
    reason,
    error: info,
  } = delivery.status === 'failed'
    ? delivery
    : { outcome: 'cancelled' as const, reason: 'The inbox is closed.', error: undefined };
  const shown = error === undefined ? info : toErrorInfo(error);
  return { status: 'kept', outcome, ...(reason !== undefined && { reason }), ...(shown && { error: shown }) };
};
