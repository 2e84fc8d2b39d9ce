import { SessionBusyError, TurnError } from '../contract/errors.js';
import type { TurnEvent } from '../contract/events.js';
import { foldJournal } from './journal.js';
import { MessageList } from '../contract/message-list.js';
import type { Message } from '../contract/messages.js';
import type { JournalRecord, OpenSession, PastTurn, SessionSnapshot, SessionStore } from '../contract/session-store.js';

interface StoredSession {
  snapshot: SessionSnapshot;
  /** The events of the latest turn; records are built when they are read. */
  events: TurnEvent[];
  /** Earlier turns by id, oldest first. */
  past: Map<string, PastTurn> | undefined;
  writer: OpenSession | undefined;
}

/** How many earlier turns of a session are known by their ids. */
const maxPastTurns = 1000;

const emptySession = (messages: Iterable<Message> = []): StoredSession => ({
  snapshot: { messages: MessageList.of(messages), state: {} },
  events: [],
  past: undefined,
  writer: undefined,
});

/** An in-memory session store whose content can be read. It remembers the ids of the last 1,000 turns of a session. */
export interface MemorySessions extends SessionStore {
  /** Returns the history of a session; empty for an unknown one. */
  messages(session: string): readonly Message[];
  /** Deletes a session; throws `SessionBusyError` while a turn runs in it. */
  delete(session: string): void;
}

/**
 * Creates a session store in memory. Its sessions live as long as the returned store.
 *
 * @example
 * ```ts
 * const sessions = memorySessions();
 * const agent = harness({ model, sessions }).pipe();
 * ```
 */
export const memorySessions = (initial: Readonly<Record<string, readonly Message[]>> = {}): MemorySessions => {
  const stored = new Map<string, StoredSession>();
  const turns = new Map<string, string>();
  for (const [session, messages] of Object.entries(initial)) {
    stored.set(session, emptySession(messages));
  }
  const sessionOf = (session: string): StoredSession => {
    const known = stored.get(session) ?? emptySession();
    stored.set(session, known);
    return known;
  };
  return {
    open: (session) => openStored(session, sessionOf(session), turns),
    locate: (turn) => turns.get(turn),
    unfinished: () =>
      [...stored].flatMap(([session, { events, writer }]) => {
        const first = events[0];
        const isOpen = first !== undefined && writer === undefined && events.at(-1)?.type !== 'turn.end';
        return isOpen ? [{ turn: first.turn, session, startedAt: first.at }] : [];
      }),
    messages: (session) => {
      const known = stored.get(session);
      return known ? [...foldJournal(known.snapshot, recordsOf(known.events)).messages] : [];
    },
    delete: (session) => {
      const known = stored.get(session);
      if (known?.writer) throw new SessionBusyError(session);
      if (known?.events[0]) turns.delete(known.events[0].turn);
      stored.delete(session);
    },
  };
};

const openStored = (session: string, stored: StoredSession, turns: Map<string, string>): OpenSession => {
  if (stored.writer) throw new SessionBusyError(session);
  const opened: OpenSession = {
    snapshot: stored.snapshot,
    journal: recordsOf(stored.events),
    append: (record) => {
      if (stored.writer !== opened) {
        throw new TurnError(
          'session-closed',
          `Session ${JSON.stringify(session)} is closed and accepts no records. Open it again to write.`,
        );
      }
      if (record.seq === 0) beginTurn(session, stored, turns, record.event.turn);
      stored.events.push(record.event);
    },
    pastTurn: (turn) => stored.past?.get(turn),
    close: () => {
      if (stored.writer === opened) stored.writer = undefined;
    },
  };
  stored.writer = opened;
  return opened;
};

/** Folds the previous turn into the snapshot, so that a session holds the journal of one turn only. */
const beginTurn = (session: string, stored: StoredSession, turns: Map<string, string>, turn: string): void => {
  stored.snapshot = foldJournal(stored.snapshot, recordsOf(stored.events));
  const [first] = stored.events;
  if (first) {
    turns.delete(first.turn);
    stored.past ??= new Map();
    remember(stored.past, first, stored.events.at(-1));
  }
  turns.set(turn, session);
  stored.events = [];
};

const remember = (past: Map<string, PastTurn>, first: TurnEvent, last: TurnEvent | undefined): void => {
  const outcome = last?.type === 'turn.end' ? last.outcome : undefined;
  past.set(first.turn, { turn: first.turn, startedAt: first.at, outcome });
  if (past.size <= maxPastTurns) return;
  const [oldest] = past.keys();
  if (oldest !== undefined) past.delete(oldest);
};

const recordsOf = (events: readonly TurnEvent[]): readonly JournalRecord[] =>
  events.map((event, seq) => ({ v: 1, seq, event, derived: false }));
