import { toErrorInfo, type ErrorInfo, type SessionStore, type UserMessage } from '@h/turn';
import { MessageStorage } from './message-storage.js';
import { findDelivered, type Found } from './find-delivered.js';
import type { Delivery, SendOptions, Sent } from './delivery.js';
import type { InboxContents, InboxStore, KeptMessage } from './inbox-store.js';
import type { KnownIds } from './known-ids.js';
import type { ItemMaker } from './item-maker.js';
import type { Item } from './pending.js';

/** A message that an earlier process had not delivered, as far as it knew. */
export interface RecoveredMessage {
  readonly session: string;
  /** The id under which it was sent. */
  readonly id?: string | undefined;
  readonly message: UserMessage;
  /**
   * - `delivered`: it is in the history already
   * - `waiting`: it goes into a turn from now on
   * - `left`: its session could not be looked into, because of `error`; the next `recover()` tries again
   */
  readonly state: 'delivered' | 'waiting' | 'left';
  readonly error?: ErrorInfo | undefined;
  /** What becomes of it. It never rejects. */
  readonly delivery: Promise<Delivery>;
}

/** What an inbox does with messages. */
export interface KeptInboxHost {
  readonly ids: KnownIds;
  readonly items: ItemMaker;
  readonly isClosed: boolean;
  add(session: string, item: Item): void;
  restore(session: string, items: readonly Item[]): void;
  /** From now on messages go into turns. */
  open(): void;
}

/** A message of an earlier process, on its way. */
interface Left {
  readonly kept: KeptMessage;
  readonly item: Item;
  readonly told: Promise<Delivery>;
}

/** The part of an inbox that keeps messages in a store, and takes up what an earlier process has left there. */
export class KeptInbox {
  readonly #host: KeptInboxHost;
  readonly #custody: MessageStorage;
  /** What was left and is not taken up yet, by session. */
  readonly #left = new Map<string, Left[]>();
  #recovering: Promise<unknown> = Promise.resolve();
  #arrived: Promise<void> = Promise.resolve();

  constructor(store: InboxStore, host: KeptInboxHost) {
    this.#host = host;
    this.#custody = new MessageStorage(store, (contents) => this.#take(contents));
  }

  send(session: string, message: string | UserMessage, options: SendOptions): Sent {
    const { ids, items } = this.#host;
    const word = new Word();
    let item: Item;
    try {
      item = items.make(session, message, options, (delivery) => this.#settle(word, keptOf(session, item), delivery));
    } catch (error) {
      return sentInVain(failedBy(error));
    }
    // In an object, because a promise resolves with the result of an inner promise and not with that promise.
    const sending = this.#custody.open().then(
      () => ({ sent: ids.find(session, options.id) ?? this.#keep(session, item, word) }),
      (error: unknown) => ({ sent: sentInVain(failedBy(error)) }),
    );
    const sent = Object.assign(
      sending.then(({ sent }) => sent),
      { accepted: sending.then(({ sent }) => sent.accepted) },
    );
    // Without a result, because the chain would retain the results of all messages.
    this.#arrived = Promise.all([this.#arrived, sent.accepted]).then(() => undefined);
    return sent;
  }

  /** Recovers the messages of earlier processes, session by session. Turns receive messages from then on. */
  recover(sessions: SessionStore): Promise<readonly RecoveredMessage[]> {
    const recovered = this.#recovering.then(async () => {
      await this.#custody.open();
      const all: RecoveredMessage[] = [];
      for (const session of this.#left.keys()) all.push(...(await this.#recoverSession(sessions, session)));
      this.#host.open();
      return all;
    });
    this.#recovering = recovered.catch(() => undefined);
    return recovered;
  }

  beforeTurn(session: string): Promise<void> {
    return this.#custody.beforeTurn(session);
  }

  /** Resolves when every sent message was stored or rejected. */
  arrived(): Promise<void> {
    return this.#arrived;
  }

  /** Resolves when no deletion is pending. */
  settled(): Promise<void> {
    return this.#custody.settled();
  }

  beginToClose(): void {
    this.#custody.beginToClose();
    for (const { item } of [...this.#left.values()].flat()) item.settle(closed);
    this.#left.clear();
  }

  close(): Promise<void> {
    return this.#custody.close();
  }

  #keep(session: string, item: Item, word: Word): Sent {
    if (this.#host.isClosed) return sentInVain(closed);
    const saved = (): boolean => {
      if (this.#host.isClosed) item.settle(closed);
      else this.#host.add(session, item);
      return this.#host.isClosed || !word.isSaid;
    };
    const failed = (error: unknown): boolean => {
      word.say(failedBy(error));
      return false;
    };
    const accepted = this.#custody.save(keptOf(session, item)).then(saved, failed);
    const sent = Object.assign(word.told, { accepted });
    this.#host.ids.add(session, item.options.id, sent);
    return sent;
  }

  #settle(word: Word, kept: KeptMessage, delivery: Delivery): void {
    if (!word.isSaid) word.say(this.#custody.settle(kept, delivery));
  }

  #take({ messages, delivered }: InboxContents): void {
    const { ids, items } = this.#host;
    ids.restore(delivered);
    for (const [index, kept] of messages.entries()) {
      const word = new Word();
      const { told } = word;
      const item = items.restore(kept, index - messages.length, (delivery) => this.#settle(word, kept, delivery));
      const left = this.#left.get(kept.session) ?? [];
      left.push({ kept, item, told });
      this.#left.set(kept.session, left);
      ids.add(kept.session, kept.options.id, Object.assign(told, { accepted: Promise.resolve(true) }));
    }
  }

  async #recoverSession(sessions: SessionStore, session: string): Promise<readonly RecoveredMessage[]> {
    const left = this.#left.get(session) ?? [];
    const say = (
      { kept: { message, options }, told }: Left,
      state: RecoveredMessage['state'],
      error?: ErrorInfo,
    ): RecoveredMessage => ({
      session,
      ...(options.id !== undefined && { id: options.id }),
      message,
      state,
      ...(error && { error }),
      delivery: told,
    });
    let found: Found;
    try {
      found = await findDelivered(sessions, session, new Set(left.map(({ kept }) => kept.tag)));
    } catch (error) {
      return left.map((each) => say(each, 'left', toErrorInfo(error)));
    }
    this.#left.delete(session);
    const waiting: Item[] = [];
    const all = left.map((each) => {
      const delivery = found.get(each.kept.tag);
      if (delivery) each.item.settle(delivery);
      else waiting.push(each.item);
      return say(each, delivery ? 'delivered' : 'waiting');
    });
    if (waiting.length > 0 && !this.#host.isClosed) this.#host.restore(session, waiting);
    return all;
  }
}

/** The delivery of a message, reported once. */
class Word {
  readonly told: Promise<Delivery>;
  isSaid = false;
  #resolve: (delivery: Delivery | Promise<Delivery>) => void = () => undefined;

  constructor() {
    this.told = new Promise((resolve) => (this.#resolve = resolve));
  }

  say(delivery: Delivery | Promise<Delivery>): void {
    this.isSaid = true;
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

/** A message that was neither stored nor delivered. */
const sentInVain = (delivery: Delivery): Sent =>
  Object.assign(Promise.resolve(delivery), { accepted: Promise.resolve(false) });
