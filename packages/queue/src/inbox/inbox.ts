import { toErrorInfo, type Agent, type TurnEvent, type UserMessage } from '@h/turn';
import { nonEmptyString, checkValue, objectWithMethods } from '@h/options';
import { Subject, type Observable } from 'rxjs';
import { monotonicScheduler } from '../lanes/clock.js';
import { Conversation, type ConversationHost } from './conversation.js';
import {
  checkInboxOptions,
  checkRecoverOptions,
  checkSendOptions,
  type InboxOptions,
  type InboxRecoverOptions,
} from './inbox-options.js';
import type { Delivery, SendOptions, Sent } from './delivery.js';
import { ItemMaker } from './item-maker.js';
import { KeptInbox, type KeptInboxHost, type RecoveredMessage } from './kept-inbox.js';
import { KnownIds } from './known-ids.js';
import type { Lanes } from '../contract.js';
import type { Item } from './pending.js';

/** A session with pending messages or a running turn. */
export interface InboxSnapshot {
  readonly session: string;
  readonly isRunning: boolean;
  readonly pending: number;
}

/** Delivers messages to an agent at any time, each exactly once. */
export interface Inbox {
  /** Events of the turns that the inbox has started, until it is closed. Hot: earlier events are not replayed. */
  readonly events: Observable<TurnEvent>;
  /**
   * Sends a message to a session: to the running turn or to a new one.
   *
   * A tool must not wait for a message to its own session: the session waits for the tool.
   *
   * @returns its delivery, which resolves when the message is in the history, is dropped or has failed, and never
   * rejects. With a store, its `accepted` resolves earlier: when the message is stored.
   *
   * @throws InvalidOptionError for an invalid option or session
   */
  send(session: string, message: string | UserMessage, options?: SendOptions): Sent;
  /**
   * Delivers the messages that earlier processes stored and did not deliver. With a store, call it once at startup:
   * after interrupted turns were resumed or finished (`recoverTurns` of `@h/session`), and before other turns begin.
   * Messages that are sent earlier are accepted and wait for it.
   *
   * A message that the history of its session already contains is not delivered again. A turn that received a message
   * and is still open is ended first, as a new turn would end it.
   *
   * @returns the recovered messages in order; none without a store
   *
   * @throws TurnError `inbox-held` (as a rejection) while another process holds the store; any error of the store
   *
   * @throws InvalidOptionError
   */
  recover(options: InboxRecoverOptions): Promise<readonly RecoveredMessage[]>;
  /**
   * Cancels the turn that the inbox runs in a session, with its undelivered messages.
   *
   * @returns whether one was running
   */
  interrupt(session: string, reason?: string): boolean;
  snapshot(): readonly InboxSnapshot[];
  /** Resolves when no turn runs and no message is pending. */
  idle(): Promise<void>;
  /**
   * Drops pending messages, or leaves them in the store, and cancels running turns. Resolves when all turns have ended.
   */
  close(): Promise<void>;
}

/**
 * Creates an inbox, which delivers messages that arrive while a turn runs.
 *
 * Messages are steered only into turns that the inbox started, because only those report undelivered messages.
 * Undelivered messages go to the next turn. The inbox waits for other turns of the session in the lanes of `queue()`.
 *
 * @throws InvalidOptionError names the option, its value and what it accepts
 *
 * @example
 * ```ts
 * const agent = harness(drivers).pipe(queue(lanes));
 * const inbox = createInbox(agent, lanes, { mode: 'steer' });
 * inbox.events.subscribe(render);
 * const { status } = await inbox.send('alice', 'Only the unit tests, please.');
 * ```
 */
export const createInbox = (
  agent: Pick<Agent, 'turn' | 'steer'>,
  lanes: Pick<Lanes, 'detach' | 'raise'>,
  options: InboxOptions = {},
): Inbox => {
  checkValue('createInbox()', 'agent', agent, objectWithMethods('turn', 'steer'));
  checkValue('createInbox()', 'lanes', lanes, objectWithMethods('detach', 'raise'));
  checkInboxOptions(options);
  const { scheduler = monotonicScheduler, store } = options;
  const items = new ItemMaker(agent, options, scheduler);
  const events = new Subject<TurnEvent>();
  const conversations = new Map<string, Conversation>();
  const ids = new KnownIds();
  const onIdle: (() => void)[] = [];
  let isOpen = store === undefined;
  let isClosed = false;
  const host: ConversationHost = {
    agent,
    scheduler,
    debounceMs: options.debounceMs ?? 500,
    maxDebounceMs: options.maxDebounceMs ?? 5000,
    maxPending: options.maxPending ?? 20,
    whenFull: options.whenFull ?? 'reject',
    isOpen: (session) => isOpen && kept?.hasLeft(session) !== true,
    beforeTurn: store && ((session, tag) => kept?.beforeTurn(session, tag) ?? Promise.resolve()),
    staysKept: (delivery) => kept?.staysKept(delivery) === true,
    detach: (callback) => lanes.detach(callback),
    raise: (session, priority) => lanes.raise(session, priority),
    show: (event) => events.next(event),
    retire: (conversation) => {
      if (conversations.get(conversation.session) === conversation) conversations.delete(conversation.session);
      if (conversations.size === 0) for (const resolve of onIdle.splice(0)) resolve();
    },
  };
  const conversationOf = (session: string): Conversation => {
    const conversation = conversations.get(session) ?? new Conversation(session, host);
    conversations.set(session, conversation);
    return conversation;
  };
  const idle = async (): Promise<void> => {
    await kept?.arrived();
    if (conversations.size > 0) await new Promise<void>((resolve) => onIdle.push(resolve));
    await kept?.settled();
  };
  const keptHost: KeptInboxHost = {
    ids,
    items,
    get isClosed() {
      return isClosed;
    },
    add: (session, item) => conversationOf(session).add(item),
    restore: (session, items) => conversationOf(session).restore(items),
    open: () => {
      isOpen = true;
      for (const conversation of conversations.values()) conversation.deliverNow();
    },
  };
  const kept = store && new KeptInbox(store, scheduler, keptHost);
  const deliver = (session: string, given: string | UserMessage, sendOptions: SendOptions): Promise<Delivery> =>
    new Promise((settle) => {
      let item: Item;
      try {
        item = items.make(session, given, sendOptions, settle);
      } catch (error) {
        settle({ status: 'failed', outcome: 'error', error: toErrorInfo(error) });
        return;
      }
      conversationOf(session).add(item);
    });
  return {
    events: events.asObservable(),
    send: (session, message, sendOptions = {}) => {
      checkValue('send()', 'session', session, nonEmptyString);
      checkSendOptions(sendOptions);
      if (isClosed) return unkept(Promise.resolve({ status: 'dropped', reason: 'closed' }));
      if (kept) return kept.send(session, message, sendOptions);
      const before = ids.find(session, sendOptions.id);
      if (before) return before;
      const sent = unkept(deliver(session, message, sendOptions));
      ids.add(session, sendOptions.id, sent);
      return sent;
    },
    recover: (recoverOptions) => {
      checkRecoverOptions(recoverOptions);
      return kept && !isClosed ? kept.recover(recoverOptions.sessions) : Promise.resolve([]);
    },
    interrupt: (session, reason = 'The turn was interrupted.') =>
      conversations.get(session)?.interrupt(reason) ?? false,
    snapshot: () =>
      [...conversations.values()].map(({ session, isRunning, pendingCount }) => ({
        session,
        isRunning,
        pending: pendingCount,
      })),
    idle,
    close: async () => {
      isClosed = true;
      kept?.beginToClose();
      for (const conversation of conversations.values()) conversation.close();
      await idle();
      await kept?.close();
      events.complete();
    },
  };
};

const noStore = Promise.resolve(false);

const unkept = (delivery: Promise<Delivery>): Sent => Object.assign(delivery, { accepted: noStore });
