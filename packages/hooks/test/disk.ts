import {
  decodeRecord,
  encodeRecord,
  foldJournal,
  MessageList,
  type JournalRecord,
  type OpenSession,
  type SessionStore,
} from '@h/turn';

/** A store that knows one session, read from lines of JSON and written to them. */
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

/** The history that a journal makes. */
export const historyOf = (lines: readonly string[]) => [
  ...foldJournal({ messages: MessageList.empty, state: {} }, lines.map(decodeRecord)).messages,
];
