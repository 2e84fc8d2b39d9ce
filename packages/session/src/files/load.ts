import { foldJournal, type JournalRecord, type SessionSnapshot } from '@h/turn';
import type { Checkpoint } from './checkpoint.js';
import { advance, type Head } from './head.js';
import { formatVersion, newerVersion, readLines, type Line } from './lines.js';
import { PastTurns } from './past-turns.js';
import { RecordReader } from './records.js';

/** The first unreadable line of a journal. Later records depend on it. */
export interface Damage {
  readonly at: number;
  /** Whether it is the last record and incomplete. */
  readonly isTorn: boolean;
  readonly reason: string;
}

/** A session as read from its files. */
export interface Loaded {
  /** The session before its latest turn. */
  readonly snapshot: SessionSnapshot;
  /** The head before the latest turn. */
  readonly headBefore: Head;
  readonly head: Head;
  /** The records of the latest turn. */
  readonly journal: readonly JournalRecord[];
  readonly turns: PastTurns;
  readonly damage: Damage | undefined;
}

/** A session without records after a checkpoint. */
export const loadedFrom = ({ head, snapshot, turns }: Checkpoint): Loaded => ({
  snapshot,
  headBefore: copyOf(head),
  head: copyOf(head),
  journal: [],
  turns: new PastTurns(turns),
  damage: undefined,
});

/** Reads a journal from a checkpoint. Changes nothing, and folds all turns except the latest. */
export const load = async (path: string, checkpoint: Checkpoint): Promise<Loaded> => {
  const start = loadedFrom(checkpoint);
  const { head, turns } = start;
  let { headBefore, snapshot } = start;
  let journal: JournalRecord[] = [];
  const reader = new RecordReader();
  for await (const lines of readLines(path, head.size)) {
    for (const line of lines) {
      const record = recordIn(line, journal.length, reader);
      if ('reason' in record) return { snapshot, headBefore, head, journal, turns, damage: record };
      if (record.seq === 0) {
        snapshot = foldJournal(snapshot, journal);
        headBefore = copyOf(head);
        journal = [];
      }
      journal.push(record);
      turns.add(record);
      advance(head, record.seq, record.event);
      head.size = line.end;
    }
  }
  return { snapshot, headBefore, head, journal, turns, damage: undefined };
};

/** Returns the record of a line, or the damage of the line. @throws TurnError `unsupported-version` */
export const recordIn = ({ json, start, isTorn }: Line, next: number, reader: RecordReader): JournalRecord | Damage => {
  if (isTorn) return { at: start, isTorn, reason: 'The last record is incomplete.' };
  if (json === undefined) return { at: start, isTorn, reason: 'The checksum of the record does not match.' };
  try {
    const record = reader.decode(json);
    const isNext = record.seq === next || record.seq === 0;
    return isNext ? record : { at: start, isTorn, reason: `Record ${record.seq} follows record ${next - 1}.` };
  } catch (error) {
    rejectNewer(json);
    return { at: start, isTorn, reason: error instanceof Error ? error.message : String(error) };
  }
};

const rejectNewer = (json: string): void => {
  const version = /^\{"v":(\d+),/.exec(json)?.[1];
  if (version !== undefined && Number(version) > formatVersion) throw newerVersion(Number(version));
};

const copyOf = (head: Head): Head => ({ ...head, latest: head.latest && { ...head.latest } });
