import {
  foldJournal,
  MessageList,
  TurnError,
  type JournalRecord,
  type Message,
  type TurnEventOf,
  type TurnOutcome,
  type TurnTrigger,
} from '@h/turn';
import { readLines } from './lines.js';
import { recordIn } from './load.js';
import { RecordReader } from './records.js';

/** A complete turn, even if its messages were replaced since. */
export interface ArchivedTurn {
  readonly turn: string;
  readonly trigger: TurnTrigger;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** In milliseconds since 1970; absent for a turn that has not ended. */
  readonly endedAt?: number | undefined;
  readonly outcome?: TurnOutcome | undefined;
  readonly usage?: TurnEventOf<'turn.end'>['usage'] | undefined;
  /** All messages that it added to the history. */
  readonly messages: readonly Message[];
  /** Number of times that it replaced the history, as compaction does. */
  readonly replacements: number;
}

/** Yields the turns of a journal from the first. Holds one of them in memory. */
export async function* readArchive(path: string): AsyncGenerator<ArchivedTurn> {
  let journal: JournalRecord[] = [];
  const reader = new RecordReader();
  for await (const lines of readLines(path)) {
    for (const line of lines) {
      if (line.isTorn) continue;
      const record = recordIn(line, journal.length, reader);
      if ('reason' in record) {
        throw new TurnError(
          'invalid-record',
          `${path} is damaged at byte ${record.at}: ${record.reason} Open the session to repair it; a backup keeps what is removed.`,
        );
      }
      if (record.seq === 0 && journal.length > 0) {
        yield archivedTurn(journal);
        journal = [];
      }
      journal.push(record);
    }
  }
  if (journal.length > 0) yield archivedTurn(journal);
}

const nothing = { messages: MessageList.empty, state: {} };

/** Summarizes the records of one turn. */
export const archivedTurn = (journal: readonly JournalRecord[]): ArchivedTurn => {
  const first = journal[0]?.event;
  const end = journal.at(-1)?.event;
  // Without replacements, the history of a turn consists of the messages that it added.
  const added = journal.filter(({ event }) => event.type !== 'history.replace');
  return {
    turn: first?.turn ?? '',
    trigger: first?.type === 'turn.start' ? first.trigger : 'user',
    startedAt: first?.at ?? 0,
    ...(end?.type === 'turn.end' && { endedAt: end.at, outcome: end.outcome, usage: end.usage }),
    messages: [...foldJournal(nothing, added).messages],
    replacements: journal.length - added.length,
  };
};
