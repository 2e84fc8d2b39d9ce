import { decodeSnapshot, RecordReader } from '@h/session/format';
import { foldJournal, MessageList, type JournalRecord, type PastTurn, type SessionSnapshot } from '@h/turn';
import { decodeName } from '../keys.js';
import type { Postgres } from '../postgres.js';

/** The size of the stored snapshot, and of the records of earlier turns that it does not contain. */
interface Sizes {
  readonly snapshotBytes: number;
  readonly unfoldedBytes: number;
}

/** A session before its latest turn, in memory. */
export interface RecentSession extends Sizes {
  readonly id: string;
  /** The fence of the claim that read or wrote it. */
  readonly fence: number;
  /** Number of turns that the snapshot contains. */
  readonly turns: number;
  readonly snapshot: SessionSnapshot;
}

/** A session as read from its rows. */
export interface LoadedSession extends Sizes {
  readonly snapshot: SessionSnapshot;
  readonly journal: readonly JournalRecord[];
  /** The size of the journal. */
  readonly turnBytes: number;
  readonly turns: number;
}

/** A snapshot is written when the records that it replaces are larger than this, and than half of the snapshot. */
const minUnfoldedBytes = 32_768;

/** Whether so many records follow the stored snapshot that a new one is written. */
export const mustSave = ({ snapshotBytes, unfoldedBytes }: Sizes): boolean =>
  unfoldedBytes > Math.max(minUnfoldedBytes, snapshotBytes / 2);

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

const rowsAfter = (database: Postgres): string => `
  select turn, seq, body from ${database.name('record')} where session = $1 and turn >= $2 order by turn, seq`;

const emptySession = { snapshot: { messages: MessageList.empty, state: {} }, snapshotBytes: 0, unfoldedBytes: 0 };

/**
 * Reads a session in one statement, and folds all turns except the latest.
 *
 * @param recent - an earlier state, which saves reading what it contains
 */
export const loadSession = async (database: Postgres, id: string, recent?: RecentSession): Promise<LoadedSession> => {
  const rows = recent
    ? await database.query<Row>(rowsAfter(database), [id, recent.turns])
    : await database.query<Row>(rowsOf(database), [id]);
  const loaded = fold(rows, recent ?? emptySession);
  // The latest turn has records. A snapshot, which the next turn may write, is made from what the database contains.
  const unfoldedBytes = loaded.unfoldedBytes + loaded.turnBytes;
  const isUsable = rows.length > 0 && !mustSave({ ...loaded, unfoldedBytes });
  return recent && !isUsable ? loadSession(database, id) : loaded;
};

const fold = (rows: readonly Row[], before: Sizes & Pick<LoadedSession, 'snapshot'>): LoadedSession => {
  const reader = new RecordReader();
  let { snapshot, snapshotBytes, unfoldedBytes } = before;
  let journal: JournalRecord[] = [];
  let turn: number | undefined;
  let turnBytes = 0;
  for (const row of rows) {
    if (row.turn === -1) {
      snapshot = decodeSnapshot(row.body);
      snapshotBytes = row.body.length;
      continue;
    }
    if (row.turn !== turn) {
      snapshot = foldJournal(snapshot, journal);
      unfoldedBytes += turnBytes;
      [turn, journal, turnBytes] = [row.turn, [], 0];
    }
    journal.push(reader.decode(row.body));
    turnBytes += row.body.length;
  }
  return { snapshot, journal, turnBytes, turns: (turn ?? -1) + 1, snapshotBytes, unfoldedBytes };
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
