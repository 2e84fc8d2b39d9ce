import { decodeSnapshot, RecordReader } from '@h/session/format';
import { foldJournal, MessageList, type JournalRecord, type PastTurn, type SessionSnapshot } from '@h/turn';
import { decodeName } from '../keys.js';
import type { Postgres } from '../postgres.js';

/** A session as read from its rows. */
export interface LoadedSession {
  /** The session before its latest turn. */
  readonly snapshot: SessionSnapshot;
  /** The records of the latest turn. */
  readonly journal: readonly JournalRecord[];
  /** The number of turns, of which the latest has the ordinal `turns - 1`. */
  readonly turns: number;
  /** The size of the stored snapshot, and of the records of earlier turns that it does not contain. */
  readonly snapshotBytes: number;
  readonly unfoldedBytes: number;
}

interface Row {
  readonly turn: number;
  readonly seq: number;
  readonly body: string;
}

/** The snapshot sorts before all records, which follow it. */
const rowsOf = (database: Postgres): string => `
  select -1 as turn, 0 as seq, body from ${database.name('snapshot')} where session = $1
  union all
  select turn, seq, body from ${database.name('record')} where session = $1
    and turn >= coalesce((select turn from ${database.name('snapshot')} where session = $1), 0)
  order by turn, seq`;

/** Reads a session in one statement, and folds all turns except the latest. */
export const loadSession = async (database: Postgres, id: string): Promise<LoadedSession> => {
  const rows = await database.query<Row>(rowsOf(database), [id]);
  const reader = new RecordReader();
  let snapshot: SessionSnapshot = { messages: MessageList.empty, state: {} };
  let journal: JournalRecord[] = [];
  let turn: number | undefined;
  let [snapshotBytes, unfoldedBytes, journalBytes] = [0, 0, 0];
  for (const row of rows) {
    if (row.turn === -1) {
      snapshot = decodeSnapshot(row.body);
      snapshotBytes = row.body.length;
      continue;
    }
    if (row.turn !== turn) {
      snapshot = foldJournal(snapshot, journal);
      unfoldedBytes += journalBytes;
      [turn, journal, journalBytes] = [row.turn, [], 0];
    }
    journal.push(reader.decode(row.body));
    journalBytes += row.body.length;
  }
  return { snapshot, journal, turns: (turn ?? -1) + 1, snapshotBytes, unfoldedBytes };
};

/** Returns the latest turns of a session, oldest first, by which a repeated id is rejected. */
export const loadTurns = async (database: Postgres, id: string, max: number): Promise<readonly PastTurn[]> => {
  const rows = await database.query<{ name: string; started_at: string; outcome: PastTurn['outcome'] | null }>(
    `select name, started_at, outcome from ${database.name('turn')} where session = $1 order by ordinal desc limit $2`,
    [id, max],
  );
  return rows
    .map(({ name, started_at: startedAt, outcome }) => ({
      turn: decodeName(name),
      startedAt: Number(startedAt),
      outcome: outcome ?? undefined,
    }))
    .toReversed();
};
