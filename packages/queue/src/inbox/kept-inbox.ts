import { toErrorInfo, type ErrorInfo, type SessionStore, type UserMessage } from '@h/turn';
import type { SchedulerLike } from 'rxjs';
import { MessageStorage } from './message-storage.js';
import { findDelivered, type Found } from './find-delivered.js';
import type { Delivery, SendOptions, Sent } from './delivery.js';
import type { InboxContents, InboxStore, KeptMessage } from './inbox-store.js';
import type { KnownIds } from './known-ids.js';
import type { ItemMaker } from './item-maker.js';
import type { Item } from './pending.js';

/** A stored message whose delivery an earlier process did not record. */
export interface RecoveredMessage {
  readonly session: string;
  /** The `id` option of `send()`. */
  readonly id?: string | undefined;
  readonly message: UserMessage;
  /**
   * - `delivered`: it is in the history already
   * - `waiting`: it will be delivered in a turn
   * - `left`: its session could not be read because of `error`; the next `recover()` tries again, and later messages of
   *   the session wait for that
   */
  readonly state: 'delivered' | 'waiting' | 'left';
  readonly error?: ErrorInfo | undefined;
  /** The delivery. It never rejects. */
  readonly delivery: Promise<Delivery>;
}

/** The operations of the inbox that {@link KeptInbox} calls. */
export interface KeptInboxHost {
  readonly ids: KnownIds;
  readonly items: ItemMaker;
  readonly isClosed: boolean;
  add(session: string, item: Item): void;
  restore(session: string, items: readonly Item[]): void;
  /** Lets messages enter turns. */
  open(): void;
}

/** A stored message of an earlier process that was not recovered yet. */
interface Left {
  readonly kept: KeptMessage;
  readonly item: Item;
  readonly delivery: Promise<Delivery>;
}

/** The part of an inbox that stores messages and recovers those of earlier processes. */
export class KeptInbox {
  readonly #host: KeptInboxHost;
  readonly #storage: MessageStorage;
  /** Messages that were not recovered yet, by session. */
  readonly #left = new Map<string, Left[]>();
  #recovering: Promise<unknown> = Promise.resolve();
  #stored: Promise<void> = Promise.resolve();

  constructor(store: InboxStore, scheduler: SchedulerLike, host: KeptInboxHost) {
    this.#host = host;
    this.#storage = new MessageStorage(store, scheduler, (contents) => this.#take(contents));
  }

  send(session: string, message: string | UserMessage, options: SendOptions): Sent {
    const { ids, items } = this.#host;
    const pending = new PendingDelivery();
    let item: Item;
    try {
      item = items.make(session, message, options, (delivery) =>
        this.#settle(pending, keptOf(session, item), delivery),
      );
    } catch (error) {
      return undelivered(failedBy(error));
    }
    // Wrapped in an object, because a promise of `Sent`, a promise itself, would resolve to its delivery.
    const sending = this.#storage.open().then(
      () => ({ sent: ids.find(session, options.id) ?? this.#keep(session, item, pending) }),
      (error: unknown) => ({ sent: undelivered(failedBy(error)) }),
    );
    const sent = Object.assign(
      sending.then(({ sent }) => sent),
      { accepted: sending.then(({ sent }) => sent.accepted) },
    );
    // Resolves to nothing, because the chain would retain the results of all messages.
    this.#stored = Promise.all([this.#stored, sent.accepted]).then(() => undefined);
    return sent;
  }

  /** Recovers the messages of earlier processes, session by session. Afterwards, messages enter turns. */
  recover(sessions: SessionStore): Promise<readonly RecoveredMessage[]> {
    const recovered = this.#recovering.then(async () => {
      await this.#storage.open();
      const all: RecoveredMessage[] = [];
      for (const session of this.#left.keys()) all.push(...(await this.#recoverSession(sessions, session)));
      this.#host.open();
      return all;
    });
    this.#recovering = recovered.catch(() => undefined);
    return recovered;
  }

  beforeTurn(session: string, tag: string | undefined): Promise<void> {
    return this.#storage.beforeTurn(session, tag);
  }

  /** Returns whether a later process delivers a message with this outcome. */
  staysKept(delivery: Delivery): boolean {
    return this.#storage.staysKept(delivery);
  }

  /** Returns whether messages of an earlier process come first, because they were not recovered yet. */
  hasLeft(session: string): boolean {
    return this.#left.has(session);
  }

  /** Resolves when every sent message was stored or rejected. */
  arrived(): Promise<void> {
    return this.#stored;
  }

  /** Resolves when no deletion is pending. */
  settled(): Promise<void> {
    return this.#storage.settled();
  }

  beginToClose(): void {
    this.#storage.beginToClose();
    for (const { item } of [...this.#left.values()].flat()) item.settle(closed);
    this.#left.clear();
  }

  close(): Promise<void> {
    return this.#storage.close();
  }

  #keep(session: string, item: Item, pending: PendingDelivery): Sent {
    if (this.#host.isClosed) return undelivered(closed);
    const saved = (): boolean => {
      if (this.#host.isClosed) item.settle(closed);
      else this.#host.add(session, item);
      return this.#host.isClosed || !pending.isSettled;
    };
    const failed = (error: unknown): boolean => {
      pending.settle(failedBy(error));
      return false;
    };
    const accepted = this.#storage.save(keptOf(session, item)).then(saved, failed);
    const sent = Object.assign(pending.promise, { accepted });
    this.#host.ids.add(session, item.options.id, sent);
    return sent;
  }

  #settle(pending: PendingDelivery, kept: KeptMessage, delivery: Delivery): void {
    if (!pending.isSettled) pending.settle(this.#storage.settle(kept, delivery));
  }

  #take({ messages, delivered }: InboxContents): void {
    const { ids, items } = this.#host;
    ids.restore(delivered);
    for (const [index, kept] of messages.entries()) {
      const pending = new PendingDelivery();
      const { promise } = pending;
      const item = items.restore(kept, index - messages.length, (delivery) => this.#settle(pending, kept, delivery));
      const left = this.#left.get(kept.session) ?? [];
      left.push({ kept, item, delivery: promise });
      this.#left.set(kept.session, left);
      ids.add(kept.session, kept.options.id, Object.assign(promise, { accepted: Promise.resolve(true) }));
    }
  }

  async #recoverSession(sessions: SessionStore, session: string): Promise<readonly RecoveredMessage[]> {
    const left = this.#left.get(session) ?? [];
    const report = (
      { kept: { message, options }, delivery }: Left,
      state: RecoveredMessage['state'],
      error?: ErrorInfo,
    ): RecoveredMessage => ({
      session,
      ...(options.id !== undefined && { id: options.id }),
      message,
      state,
      ...(error && { error }),
      delivery,
    });
    let found: Found;
    try {
      found = await findDelivered(sessions, session, new Set(left.map(({ kept }) => kept.tag)));
    } catch (error) {
      return left.map((each) => report(each, 'left', toErrorInfo(error)));
    }
    this.#left.delete(session);
    const waiting: Item[] = [];
    const all = left.map((each) => {
      const delivery = found.get(each.kept.tag);
      if (delivery) each.item.settle(delivery);
      else waiting.push(each.item);
      return report(each, delivery ? 'delivered' : 'waiting');
    });
    if (!this.#host.isClosed) this.#host.restore(session, waiting);
    return all;
  }
}

/** A delivery that is reported once. */
class PendingDelivery {
  readonly promise: Promise<Delivery>;
  isSettled = false;
  #resolve: (delivery: Delivery | Promise<Delivery>) => void = () => undefined;

  constructor() {
    this.promise = new Promise((resolve) => (this.#resolve = resolve));
  }

  settle(delivery: Delivery | Promise<Delivery>): void {
    this.isSettled = true;
    this.#resolve(delivery);
  }
}

const keptOf = (session: string, { tag, message, mode, mergeKey, options }: Item): KeptMessage => ({
  tag,
  session,
  message,
  mode,
  mergeKey,
  options,
});

const closed: Delivery = { status: 'dropped', reason: 'closed' };

const failedBy = (error: unknown): Delivery => ({ status: 'failed', outcome: 'error', error: toErrorInfo(error) });

/** The result of a message that was neither stored nor delivered. */
const undelivered = (delivery: Delivery): Sent =>
  Object.assign(Promise.resolve(delivery), { accepted: Promise.resolve(false) });
