import { decodeSnapshot, RecordReader } from '@h/session/format';
import { foldJournal, MessageList, type JournalRecord, type PastTurn, type SessionSnapshot } from '@h/turn';
import { IncompleteLogError } from './errors.js';

/** Claims, records and snapshots are entries of the log. A large entry has several messages. */
export type StoredKind = 'C' | 'R' | 'S';
/** A `gap` stands for messages that the server has not returned. */
type EntryKind = StoredKind | 'gap';

export interface Entry {
  readonly kind: EntryKind;
  /** Sequence of its first message in the stream; of a gap, of its last message. */
  readonly seq: number;
  readonly text: string;
}

/** What a claim stores. */
export interface ClaimText {
  readonly fence: number;
  /** Whether the session had no turns, so that nothing before this claim matters. */
  readonly isEmpty?: boolean;
}

/** The end of a log. */
export interface LogEnd {
  readonly lastSeq: number;
  /** The id of the last message. */
  readonly lastId: string;
  readonly messages: number;
  /** Number of entries, which have one or more messages each. */
  readonly entries: number;
}

/** A session before its latest turn. */
export interface EarlierTurns {
  readonly snapshot: SessionSnapshot;
  readonly past: readonly PastTurn[];
  /** Sequence of the first record of the latest turn. */
  readonly latestSeq: number;
  /** The highest fence of all claims. */
  readonly fence: number;
  readonly snapshotBytes: number;
  /** Bytes of records that a new snapshot would replace. */
  readonly unfoldedBytes: number;
}

/** A session before its latest turn, in memory, and the log to which it belongs. */
export interface RecentSession extends EarlierTurns, LogEnd {}

/** A session as read from its log. */
export interface LoadedSession extends EarlierTurns, LogEnd {
  readonly journal: readonly JournalRecord[];
  /** Bytes of the journal. */
  readonly turnBytes: number;
  /** Turns before the latest one that the snapshot remembers, and those of the log. */
  readonly past: readonly PastTurn[];
  /** Whether the earlier turns are those that this process had in memory. */
  readonly isRecent: boolean;
}

export const emptySnapshot: SessionSnapshot = { messages: MessageList.empty, state: {} };

const noTurns: EarlierTurns = {
  snapshot: emptySnapshot,
  past: [],
  latestSeq: 0,
  fence: 0,
  snapshotBytes: 0,
  unfoldedBytes: 0,
};

/**
 * Combines the entries of a log.
 *
 * @param before - the turns before the first entry
 * @throws IncompleteLogError if entries that matter are missing
 */
export const fold = (
  entries: readonly Entry[],
  before: EarlierTurns = noTurns,
): Omit<LoadedSession, keyof LogEnd | 'isRecent'> => {
  const latest = entries.findLast(({ kind }) => kind === 'S');
  const start = latest === undefined ? before : readSnapshot(latest.text);
  const { latestSeq: from, past, snapshotBytes } = start;
  let { snapshot, latestSeq, unfoldedBytes } = start;
  let journal: JournalRecord[] = [];
  let [fence, turnBytes, missing] = [before.fence, 0, 0];
  const turns: JournalRecord[] = [];
  const reader = new RecordReader();
  for (const { kind, seq, text } of entries) {
    // What a snapshot replaces has been removed.
    if (kind === 'gap' && seq >= from) missing = seq;
    if (kind === 'C') {
      const claim = JSON.parse(text) as ClaimText;
      fence = Math.max(fence, claim.fence);
      if (claim.isEmpty) missing = 0;
    }
    if (kind !== 'R' || seq < from) continue;
    for (const line of text.split('\n')) {
      const record = reader.decode(line);
      if (record.seq === 0) {
        snapshot = foldJournal(snapshot, journal);
        unfoldedBytes += turnBytes;
        [journal, turnBytes, latestSeq] = [[], 0, seq];
      }
      if (record.seq === 0 || record.event.type === 'turn.end') turns.push(record);
      journal.push(record);
      turnBytes += line.length;
    }
  }
  if (missing > 0) throw new IncompleteLogError(`message ${missing}`);
  return {
    snapshot,
    journal,
    turnBytes,
    past: addTurns(past, turns),
    latestSeq,
    fence,
    snapshotBytes,
    unfoldedBytes,
  };
};

const readSnapshot = (text: string): EarlierTurns => {
  const [header, body] = splitOnce(text);
  const { from, past } = JSON.parse(header) as { readonly from: number; readonly past: readonly PastTurn[] };
  return { ...noTurns, snapshot: decodeSnapshot(body), past, latestSeq: from, snapshotBytes: body.length };
};

const addTurns = (past: readonly PastTurn[], records: readonly JournalRecord[]): readonly PastTurn[] => {
  const turns = new Map(past.map((each) => [each.turn, each]));
  for (const { seq, event } of records) {
    const { turn, at } = event;
    if (seq === 0) turns.set(turn, { turn, startedAt: at, outcome: undefined });
    const begun = turns.get(turn);
    if (event.type === 'turn.end' && begun !== undefined) turns.set(turn, { ...begun, outcome: event.outcome });
  }
  return [...turns.values()];
};

const splitOnce = (text: string): readonly [string, string] => {
  const at = text.indexOf('\n');
  return [text.slice(0, at), text.slice(at + 1)];
};
