import {
  foldJournal,
  SessionBusyError,
  type JournalRecord,
  type Message,
  type MessageList,
  type SessionSnapshot,
  type SessionStore,
} from '@h/turn';
import type { InboxStore, KeptMessage, KnownDelivery } from '../src/inbox/index.js';

const never = <Value>(): Promise<Value> => new Promise(() => undefined);

/**
 * The stores as one process sees them. Operations after `kill()` have no effect; the next process finds the earlier
 * state.
 */
export interface Life {
  readonly sessions: SessionStore;
  readonly store: InboxStore;
  kill(): void;
}

/** The state that outlives processes. */
export interface Disk {
  live(): Life;
  /** The user messages of a session, including those that were replaced since. */
  said(session?: string): readonly unknown[];
  /** The stored messages of the inbox. */
  readonly kept: Map<string, KeptMessage>;
  readonly delivered: Map<string, KnownDelivery>;
  /** The operations that fail. */
  readonly faults: Set<'save' | 'remove' | 'check' | 'open'>;
  /** Awaited before a message is deleted. */
  forgetting: Promise<void> | undefined;
  /** The operation that does not settle until this promise does. */
  hung: { readonly operation: keyof InboxStore; readonly until: Promise<void> } | undefined;
}

interface Stored {
  snapshot: SessionSnapshot;
  records: JournalRecord[];
  holder: Life | undefined;
  readonly said: unknown[];
}

export const mortalDisk = (): Disk => {
  const stored = new Map<string, Stored>();
  const kept = new Map<string, KeptMessage>();
  const delivered = new Map<string, KnownDelivery>();
  const faults: Disk['faults'] = new Set();
  const stateOf = (session: string): Stored => {
    const state = stored.get(session) ?? {
      snapshot: { messages: [], state: {} },
      records: [],
      holder: undefined,
      said: [],
    };
    stored.set(session, state);
    return state;
  };
  const disk: Disk = {
    kept,
    delivered,
    faults,
    forgetting: undefined,
    hung: undefined,
    said: (session = 'alice') => stateOf(session).said,
    live: () => {
      let isAlive = true;
      const hang = async (name: keyof InboxStore): Promise<void> => {
        if (disk.hung?.operation === name) await disk.hung.until;
      };
      const change = async (name: 'save' | 'remove', work: () => void): Promise<void> => {
        if (name === 'remove') await disk.forgetting;
        await hang(name);
        if (!isAlive) return never();
        if (faults.has(name)) throw new Error(`No ${name}.`);
        return work();
      };
      const life: Life = {
        kill: () => {
          isAlive = false;
          for (const state of stored.values()) state.holder = undefined;
        },
        store: {
          open: async () => {
            await hang('open');
            if (faults.has('open')) throw new Error('No open.');
            return { messages: [...kept.values()], delivered: [...delivered.values()] };
          },
          save: (message) => change('save', () => void kept.set(message.tag, message)),
          remove: (tag, known) =>
            change('remove', () => {
              kept.delete(tag);
              if (known) delivered.set(known.id, known);
            }),
          check: async () => {
            if (!isAlive) return never();
            await hang('check');
            if (faults.has('check')) throw new Error('Taken.');
          },
          close: () => hang('close'),
        },
        sessions: {
          locate: (turn) => [...stored].find(([, { records }]) => records[0]?.event.turn === turn)?.[0],
          unfinished: () =>
            [...stored].flatMap(([session, { records, holder }]) => {
              const [first] = records;
              return first && !holder && records.at(-1)?.event.type !== 'turn.end'
                ? [{ turn: first.event.turn, session, startedAt: first.event.at }]
                : [];
            }),
          open: (session) => {
            if (!isAlive) return never();
            const state = stateOf(session);
            if (state.holder) throw new SessionBusyError(session);
            state.holder = life;
            return {
              snapshot: state.snapshot,
              journal: [...state.records],
              append: (record) => {
                if (!isAlive) return never();
                if (record.seq === 0) {
                  state.snapshot = foldJournal(state.snapshot, state.records);
                  state.records = [];
                }
                state.records.push(record);
                note(state.said, record);
                return undefined;
              },
              close: () => {
                if (isAlive) state.holder = undefined;
              },
            };
          },
        },
      };
      return life;
    },
  };
  return disk;
};

const note = (said: unknown[], { event }: JournalRecord): void => {
  if (event.type !== 'history.append') return;
  for (const { role, content } of event.messages as readonly Message[] | MessageList) {
    if (role === 'user') said.push(content);
  }
};
