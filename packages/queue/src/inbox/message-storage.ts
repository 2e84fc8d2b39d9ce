import { later } from '@h/options';
import { toErrorInfo, TurnError } from '@h/turn';
import type { SchedulerLike } from 'rxjs';
import type { Delivered, Delivery } from './delivery.js';
import type { InboxContents, InboxStore, KeptMessage, KnownDelivery } from './inbox-store.js';

/** Far longer than a healthy store takes. A store that hangs blocks its sessions no longer than this. */
const storeTimeoutMs = 120_000;

/** Stores the messages of an inbox until their delivery is known. */
export class MessageStorage {
  readonly #store: InboxStore;
  readonly #scheduler: SchedulerLike;
  readonly #onOpen: (contents: InboxContents) => void;
  #opening: Promise<void> | undefined;
  /** Resolves when everything that was saved until now is stored. */
  #saved: Promise<unknown> = Promise.resolve();
  /** Pending deletions, by session. */
  readonly #removals = new Map<string, Promise<void>>();
  /** Delivered messages that the store could not delete. The deletion is retried. */
  readonly #overdue = new Map<string, KnownDelivery | undefined>();
  #isClosing = false;

  constructor(store: InboxStore, scheduler: SchedulerLike, onOpen: (contents: InboxContents) => void) {
    this.#store = store;
    this.#scheduler = scheduler;
    this.#onOpen = onOpen;
  }

  /** Opens the store once; tries again after a failure. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#inTime('open', this.#opening);
  }

  /** Stores a message. Messages are confirmed in the order of the calls. */
  save(message: KeptMessage): Promise<void> {
    const before = this.#saved;
    const saving = this.#inTime('save', this.#store.save(message), () => this.#store.remove(message.tag));
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
    await this.#inTime('check', this.#store.check(session, tag));
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
    if (this.#opening) await this.open().catch(() => undefined);
    await this.#saved;
    await this.#forgetOverdue();
    await this.#inTime('close', this.#store.close());
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

  async #undelivered(message: KeptMessage, delivery: Delivery): Promise<Delivery> {
    try {
      await this.#inTime('remove', this.#store.remove(message.tag), () => this.#store.save(message));
      return delivery;
    } catch (error) {
      return kept(delivery, error);
    }
  }

  async #leave({ tag }: KeptMessage): Promise<void> {
    // The store itself is left to the next process when it is closed.
    if (this.#isClosing) return;
    const leaving = this.#store.leave?.(tag);
    if (leaving) await this.#inTime('leave', leaving).catch(() => undefined);
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
    const removals = await Promise.allSettled(
      overdue.map(([tag, known]) => this.#inTime('remove', this.#store.remove(tag, known))),
    );
    for (const [index, [tag, known]] of overdue.entries()) {
      if (removals[index]?.status === 'rejected') this.#overdue.set(tag, known);
    }
  }

  /** Rejects if the store does not settle. An operation that succeeds afterwards was reported as failed: it is undone. */
  #inTime<Value>(method: string, settled: Promise<Value>, undo?: () => Promise<void>): Promise<Value> {
    const message = `${method}() of the inbox store did not settle within ${storeTimeoutMs} ms. Check its disk or its server.`;
    return new Promise((resolve, reject) => {
      const stopTimer = later(this.#scheduler, storeTimeoutMs, () => {
        reject(new TurnError('inbox-store-timeout', message));
        if (undo) void settled.then(undo).catch(() => undefined);
      });
      settled.finally(stopTimer).then(resolve, reject);
    });
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
