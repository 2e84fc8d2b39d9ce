import { foldJournal, MessageList, type JournalRecord, type OpenSession, type SessionStore } from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';

/** Creates a store with one session, whose records are lines of JSON. */
export const diskOf = (given: readonly string[] = []): SessionStore & { readonly lines: string[] } => {
  const lines = [...given];
  const snapshot = { messages: MessageList.empty, state: {} };
  const journal = (): JournalRecord[] => lines.map(decodeRecord);
  return {
    lines,
    open: (): OpenSession => ({
      snapshot,
      journal: journal(),
      append: (record) => void lines.push(encodeRecord(record)),
      close: () => undefined,
    }),
    locate: (turn) => (journal()[0]?.event.turn === turn ? 's' : undefined),
    unfinished: () => [],
  };
};

/** Returns the history that results from a journal. */
export const historyOf = (lines: readonly string[]) => [
  ...foldJournal({ messages: MessageList.empty, state: {} }, lines.map(decodeRecord)).messages,
];
