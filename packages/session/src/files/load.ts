import { decodeRecord, foldJournal, type JournalRecord, type SessionSnapshot } from '@h/turn';
import type { Checkpoint } from './checkpoint.js';
import { advance, type Head } from './head.js';
import { readLines, type Line } from './lines.js';
import { formatVersion, newerVersion } from './version.js';

/** The first thing in a journal that cannot be read; what comes after it means nothing without it. */
export interface Damage {
  readonly at: number;
  /** It is the last thing in the file, and was not written in full. */
  readonly isTorn: boolean;
  readonly reason: string;
}

/** A session as its files tell it. */
export interface Loaded {
  /** Before the latest turn. */
  readonly snapshot: SessionSnapshot;
  /** What was known before the latest turn. */
  readonly headBefore: Head;
  readonly head: Head;
  /** The records of the latest turn. */
  readonly journal: readonly JournalRecord[];
  readonly damage: Damage | undefined;
}

/** Reads a journal from a checkpoint on. Nothing is changed, and of the turns before the latest one only their sum is kept. */
export const load = async (path: string, { head: base, snapshot: before }: Checkpoint): Promise<Loaded> => {
  const head = copyOf(base);
  let headBefore = copyOf(base);
  let snapshot = before;
  let journal: JournalRecord[] = [];
  for await (const lines of readLines(path, base.size)) {
    for (const line of lines) {
      const record = recordIn(line, journal.length);
      if ('reason' in record) return { snapshot, headBefore, head, journal, damage: record };
      if (record.seq === 0) {
        snapshot = foldJournal(snapshot, journal);
        headBefore = copyOf(head);
        journal = [];
      }
      journal.push(record);
      advance(head, record.seq, record.event);
      head.size = line.end;
    }
  }
  return { snapshot, headBefore, head, journal, damage: undefined };
};

/** The record of a line, or what is wrong with it. @throws TurnError `unsupported-version` */
export const recordIn = ({ text, start, isTorn }: Line, next: number): JournalRecord | Damage => {
  if (isTorn) return { at: start, isTorn, reason: 'The last record was not written in full.' };
  try {
    const record = decodeRecord(text);
    const isNext = record.seq === next || record.seq === 0;
    return isNext
      ? record
      : { at: start, isTorn, reason: `Record ${record.seq} stands where record ${next} or a new turn should.` };
  } catch (error) {
    refuseNewer(text);
    return { at: start, isTorn, reason: error instanceof Error ? error.message : String(error) };
  }
};

const refuseNewer = (text: string): void => {
  const version = /^\{"v":(\d+),/.exec(text)?.[1];
  if (version !== undefined && Number(version) > formatVersion) throw newerVersion(Number(version));
};

const copyOf = (head: Head): Head => ({ ...head, latest: head.latest && { ...head.latest } });
