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

/** A session as read from its log. */
export interface LoadedSession {
  /** The session before its latest turn. */
  readonly snapshot: SessionSnapshot;
  readonly journal: readonly JournalRecord[];
  /** Turns before the latest one that the snapshot remembers, and those of the log. */
  readonly past: readonly PastTurn[];
  /** Sequence of the first record of the latest turn. */
  readonly latestSeq: number;
  readonly lastSeq: number;
  /** The highest fence of all claims. */
  readonly fence: number;
  readonly snapshotBytes: number;
  /** Bytes and messages that a new snapshot would replace. */
  readonly unfoldedBytes: number;
  readonly messages: number;
}

export const emptySnapshot: SessionSnapshot = { messages: MessageList.empty, state: {} };

/** Combines the entries of a log. @throws IncompleteLogError if entries that matter are missing */
export const fold = (entries: readonly Entry[]): Omit<LoadedSession, 'lastSeq' | 'messages'> => {
  const latest = entries.findLast(({ kind }) => kind === 'S');
  const [header = '', body = ''] = latest === undefined ? [] : splitOnce(latest.text);
  const { from, past } =
    latest === undefined ? { from: 0, past: [] } : (JSON.parse(header) as { from: number; past: readonly PastTurn[] });
  let snapshot: SessionSnapshot = body === '' ? emptySnapshot : decodeSnapshot(body);
  let journal: JournalRecord[] = [];
  let [fence, latestSeq, unfoldedBytes, journalBytes, missing] = [0, 0, 0, 0, 0];
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
        unfoldedBytes += journalBytes;
        [journal, journalBytes, latestSeq] = [[], 0, seq];
      }
      if (record.seq === 0 || record.event.type === 'turn.end') turns.push(record);
      journal.push(record);
      journalBytes += line.length;
    }
  }
  if (missing > 0) throw new IncompleteLogError(`message ${missing}`);
  return {
    snapshot,
    journal,
    past: addTurns(past, turns),
    latestSeq,
    fence,
    snapshotBytes: body.length,
    unfoldedBytes,
  };
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
