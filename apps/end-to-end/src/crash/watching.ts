import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalRecord, OpenSession, SessionStore } from '@h/turn';
import { encodeRecord } from '@h/turn/records';

/** Called at each moment at which a process could die, in order. */
export type OnMoment = (name: string, tear?: () => void) => void;

/**
 * Wraps a store and reports the moments around each record, each opening and each closing.
 *
 * The turn does not wait for its records, but the wrapper stores those of a session one by one. A process can therefore
 * die between any two records, and a torn record always follows the earlier ones.
 */
export const watching = (store: SessionStore, directory: string, onMoment: OnMoment): SessionStore => ({
  locate: (turn) => store.locate(turn),
  unfinished: () => store.unfinished(),
  open: async (session, options): Promise<OpenSession> => {
    onMoment(`${session} is about to be opened`);
    const open = await store.open(session, options);
    onMoment(`${session} is open`);
    let stored = Promise.resolve();
    const append = async (record: JournalRecord): Promise<void> => {
      const name = `${session} ${record.event.type}`;
      onMoment(`half of ${name} is stored`, () => tear(directory, session, record));
      await open.append(record);
      onMoment(`${name} is stored`);
    };
    return {
      snapshot: open.snapshot,
      journal: open.journal,
      append: (record) => {
        const appended = stored.then(() => append(record));
        stored = appended.catch(() => undefined);
        return appended;
      },
      close: async () => {
        onMoment(`${session} is about to be closed`);
        await open.close();
        onMoment(`${session} is closed`);
      },
    };
  },
});

/** Writes the first half of a record, as if the process had died during the write. */
const tear = (directory: string, session: string, record: JournalRecord): void => {
  const folder = readdirSync(directory).find((name) => name.startsWith(`${session}_`)) ?? '';
  const line = encodeRecord(record);
  appendFileSync(join(directory, folder, 'journal.jsonl'), line.slice(0, line.length / 2));
};
