import { toErrorInfo } from '@h/turn';
import type { Delivered, Delivery } from './delivery.js';
import type { InboxContents, InboxStore, KeptMessage, KnownDelivery } from './inbox-store.js';

/** Keeps the messages of an inbox in its store until it is known what became of them. */
export class MessageStorage {
  readonly #store: InboxStore;
  readonly #onOpen: (contents: InboxContents) => void;
  #opening: Promise<void> | undefined;
  /** When all that was saved until now is safe. */
  #saved: Promise<unknown> = Promise.resolve();
  /** What is being forgotten, by session. */
  readonly #removals = new Map<string, Promise<void>>();
  /** What was delivered and the store could not forget: it is asked again. */
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

  /** Keeps a message. Those that are saved are safe in the order in which they came. */
  save(message: KeptMessage): Promise<void> {
    const before = this.#saved;
    const saving = this.#store.save(message);
    const saved = before.then(() => saving);
    this.#saved = saved.catch(() => undefined);
    // What is saved before may take longer than this one takes to fail.
    saving.catch(() => undefined);
    return saved;
  }

  /** Deletes a message. @returns its delivery once that is done, or `kept` */
  settle(message: KeptMessage, delivery: Delivery): Promise<Delivery> {
    if (this.#staysKept(delivery)) return Promise.resolve(kept(delivery));
    const told =
      delivery.status === 'delivered' ? this.#delivered(message, delivery) : this.#undelivered(message, delivery);
    this.#track(message.session, told);
    return told;
  }

  /**
   * Before a turn begins, those before it are forgotten that are in the history: it may put another history in place of that one,
   * in which they are not found again. A store that cannot delete does not delay the turn; a store that was lost does.
   */
  async beforeTurn(session: string): Promise<void> {
    await this.#removals.get(session);
    await this.#store.check();
  }

  /** Resolves when nothing is being forgotten. */
  async settled(): Promise<void> {
    await Promise.all(this.#removals.values());
  }

  /** Keeps undelivered messages for the next process from now on. */
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

  /** Whether this process will not deliver it, and a later one may. */
  #staysKept(delivery: Delivery): boolean {
    if (delivery.status === 'dropped') return delivery.reason === 'closed';
    return delivery.status === 'failed' && (this.#isClosing || delivery.error?.code === 'lane-closed');
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
