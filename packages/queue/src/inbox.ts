import { toErrorInfo, type Agent, type TurnEvent, type UserMessage } from '@h/turn';
import { aText, checkValue, objectWith } from '@h/turn/options';
import { Subject, type Observable } from 'rxjs';
import { monotonicScheduler } from './clock.js';
import { Conversation, type ConversationHost } from './conversation.js';
import { checkInboxOptions, checkSendOptions, type Delivery, type InboxOptions, type SendOptions } from './inbox-options.js';
import { tagKey } from './inbox-turn.js';
import type { Lanes } from './lanes.js';
import type { Item } from './pending.js';

/** A session in which messages wait or a turn runs. */
export interface InboxSnapshot {
  readonly session: string;
  readonly isRunning: boolean;
  readonly pending: number;
}

/** Messages of people to an agent, whatever it is doing: each is in the history once. */
export interface Inbox {
  /** What the turns emit that the inbox has started, until it is closed. Hot: who comes late has missed what was. */
  readonly events: Observable<TurnEvent>;
  /**
   * Gives a message to a session: to the turn that runs there, or to one that begins.
   *
   * A tool is not to wait for a message to its own session, which waits for the tool.
   *
   * @returns what became of it; it resolves once the message is in the history, dropped, or its turn has failed, and never rejects
   *
   * @throws InvalidOptionError for a wrong option or session
   */
  send(session: string, message: string | UserMessage, options?: SendOptions): Promise<Delivery>;
  /** Cancels the turn that the inbox runs in a session, with what it has not delivered. @returns whether there was one */
  interrupt(session: string, reason?: string): boolean;
  snapshot(): readonly InboxSnapshot[];
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>;
  /** Drops what comes and what waits, cancels what runs, and resolves when all has ended. */
  close(): Promise<void>;
}

/** How many ids are remembered of messages that were delivered. */
const maxRemembered = 1000;

/**
 * Makes an inbox: says what a message does that arrives while a turn runs.
 *
 * A message is steered only into turns that the inbox has started, because only of those it hears what was not delivered:
 * that goes into the next turn. Turns that others start in the same session are waited for, in the lanes of `queue()`.
 *
 * @throws InvalidOptionError that names the option, its value and what it takes
 *
 * @example
 * ```ts
 * const agent = harness(drivers).pipe(queue(lanes));
 * const inbox = createInbox(agent, lanes, { mode: 'steer' });
 * inbox.events.subscribe(render);
 * const { status } = await inbox.send('alice', 'Only the unit tests, please.');
 * ```
 */
export const createInbox = (agent: Pick<Agent, 'turn' | 'steer'>, lanes: Pick<Lanes, 'detach'>, options: InboxOptions = {}): Inbox => {
  checkValue('createInbox()', 'agent', agent, objectWith('turn', 'steer'));
  checkValue('createInbox()', 'lanes', lanes, objectWith('detach'));
  checkInboxOptions(options);
  const { mode = 'steer', mergeKeyOf = defaultMergeKey, scheduler = monotonicScheduler } = options;
  const events = new Subject<TurnEvent>();
  const conversations = new Map<string, Conversation>();
  const underWay = new Map<string, Promise<Delivery>>();
  const delivered = new Map<string, Promise<Delivery>>();
  const onIdle: (() => void)[] = [];
  let count = 0;
  let isClosed = false;
  const host: ConversationHost = {
    agent,
    scheduler,
    debounceMs: options.debounceMs ?? 500,
    maxDebounceMs: options.maxDebounceMs ?? 5000,
    maxPending: options.maxPending ?? 20,
    whenFull: options.whenFull ?? 'reject',
    detach: (callback) => lanes.detach(callback),
    show: (event) => events.next(event),
    retire: (conversation) => {
      if (conversations.get(conversation.session) === conversation) conversations.delete(conversation.session);
      if (conversations.size === 0) for (const resolve of onIdle.splice(0)) resolve();
    },
  };
  const idle = (): Promise<void> => (conversations.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve)));
  /** @throws what is wrong with the message, or what `mergeKeyOf` throws */
  const itemOf = (session: string, given: string | UserMessage, sendOptions: SendOptions, settle: Item['settle']): Item => {
    const message: UserMessage = typeof given === 'string' ? { role: 'user', content: given } : given;
    const { trigger, priority, metadata } = sendOptions;
    // A turn is cold: to ask for it only checks what it is to begin with, so that one wrong message fails no others.
    agent.turn({ session, input: [message], trigger, priority, metadata });
    const mergeKey = mergeKeyOf(message, sendOptions);
    count += 1;
    const tag = `${count}`;
    const tagged = { ...message, metadata: { ...message.metadata, [tagKey]: tag } };
    return { tag, order: count, message: tagged, mode: sendOptions.mode ?? mode, mergeKey, options: sendOptions, at: scheduler.now(), settle };
  };
  const deliver = (session: string, given: string | UserMessage, sendOptions: SendOptions): Promise<Delivery> =>
    new Promise((settle) => {
      let item: Item;
      try {
        item = itemOf(session, given, sendOptions, settle);
      } catch (error) {
        settle({ status: 'failed', outcome: 'error', error: toErrorInfo(error) });
        return;
      }
      const conversation = conversations.get(session) ?? new Conversation(session, host);
      conversations.set(session, conversation);
      conversation.add(item);
    });
  /** What was not delivered may be sent again under its id. */
  const remember = (key: string, delivery: Promise<Delivery>): void => {
    underWay.set(key, delivery);
    void delivery.then(({ status }) => {
      underWay.delete(key);
      if (status === 'delivered') delivered.set(key, delivery);
      const [oldest] = delivered.keys();
      if (delivered.size > maxRemembered && oldest !== undefined) delivered.delete(oldest);
    });
  };
  return {
    events: events.asObservable(),
    send: (session, message, sendOptions = {}) => {
      checkValue('send()', 'session', session, aText);
      checkSendOptions(sendOptions);
      if (isClosed) return Promise.resolve({ status: 'dropped', reason: 'closed' });
      if (sendOptions.id === undefined) return deliver(session, message, sendOptions);
      const key = JSON.stringify([session, sendOptions.id]);
      const before = underWay.get(key) ?? delivered.get(key);
      if (before) return before;
      const delivery = deliver(session, message, sendOptions);
      remember(key, delivery);
      return delivery;
    },
    interrupt: (session, reason = 'The turn was interrupted.') => conversations.get(session)?.interrupt(reason) ?? false,
    snapshot: () => [...conversations.values()].map(({ session, isRunning, pendingCount }) => ({ session, isRunning, pending: pendingCount })),
    idle,
    close: async () => {
      isClosed = true;
      for (const conversation of conversations.values()) conversation.close();
      await idle();
      events.complete();
    },
  };
};

const defaultMergeKey = (_message: UserMessage, { trigger, priority, metadata }: SendOptions): string => JSON.stringify([trigger, priority, metadata]);
