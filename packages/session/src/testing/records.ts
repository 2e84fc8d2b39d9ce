import type { JournalRecord, Message, OpenSession, SessionSnapshot, SessionStore, TurnEvent } from '@h/turn';
import { foldJournal } from '@h/turn';
import { event, usage, user } from '@h/turn/testing';

/** The records of an unfinished turn with an input, an answer and a stored value. */
export const openTurn = (turn: string, text: string, at = 7): readonly TurnEvent[] => {
  const envelope = { turn, at };
  const content = [{ type: 'text', text: `You said: ${text}` }] as const;
  return [
    event('turn.start', { session: 'any', input: [user(text)], trigger: 'user' }, envelope),
    event('session.loaded', { session: 'any', messages: [] as never, state: {}, repairs: [] }, envelope),
    event('history.append', { origin: 'input', messages: [user(text)] }, envelope),
    event('model.response', { step: 1, attempt: 1, content, finishReason: 'stop', usage: usage() }, envelope),
    event('history.append', { origin: 'response', messages: [{ role: 'assistant', content }] }, envelope),
    event('session.state', { key: 'last', value: text }, envelope),
  ];
};

/** The same turn with its end. */
export const wholeTurn = (turn: string, text: string, at?: number): readonly TurnEvent[] => [
  ...openTurn(turn, text, at),
  event('turn.end', { outcome: 'completed', steps: 1, usage: usage() }, { turn, at: at ?? 7 }),
];

/** The messages that {@link openTurn} adds to the history. */
export const messagesOf = (text: string): readonly Message[] => [
  user(text),
  { role: 'assistant', content: [{ type: 'text', text: `You said: ${text}` }] },
];

/** Appends events as the records of a turn, in order. */
export const write = async (open: OpenSession, events: readonly TurnEvent[], from = 0): Promise<void> => {
  for (const [index, each] of events.entries()) {
    await open.append({ v: 1, seq: from + index, event: each, derived: false });
  }
};

/** Opens a session, uses it and closes it. */
export const inSession = async <Result>(
  store: SessionStore,
  session: string,
  use: (open: OpenSession) => Result,
): Promise<Awaited<Result>> => {
  const open = await store.open(session);
  try {
    return await use(open);
  } finally {
    await open.close();
  }
};

/** The state of a session, including its latest turn. */
export const stateOf = (
  store: SessionStore,
  session: string,
): Promise<SessionSnapshot & { readonly messages: readonly Message[] }> =>
  inSession(store, session, ({ snapshot, journal }) => {
    const { messages, state } = foldJournal(snapshot, journal);
    return { messages: [...messages], state: { ...state } };
  });

/** The records of the latest turn. */
export const journalOf = (store: SessionStore, session: string): Promise<readonly JournalRecord[]> =>
  inSession(store, session, ({ journal }) => [...journal]);
