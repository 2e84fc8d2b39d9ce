import { createHash } from 'node:crypto';
import { join } from 'node:path';

const maxReadable = 40;
const hashLength = 24;

/** The files of a session. */
export interface SessionFolder {
  readonly session: string;
  readonly path: string;
  /** All records, one per line. It only grows. */
  readonly journal: string;
  /** The session after an earlier turn, so that earlier records need not be read. */
  readonly snapshot: string;
  /** The summary for lists. */
  readonly head: string;
}

/**
 * Returns the folder of a session.
 *
 * Any name is allowed: names that a file system rejects or considers the same (`Alice`, `alice`) differ in their hash.
 */
export const folderOf = (directory: string, session: string): SessionFolder => {
  const readable = session
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxReadable);
  const hash = createHash('sha256').update(JSON.stringify(session)).digest('hex').slice(0, hashLength);
  return filesIn(join(directory, `${readable.replace(/^-/, '')}_${hash}`), session);
};

/** Returns the files of an existing folder. */
export const filesIn = (path: string, session: string): SessionFolder => ({
  session,
  path,
  journal: join(path, 'journal.jsonl'),
  snapshot: join(path, 'snapshot.jsonl'),
  head: join(path, 'head.json'),
});

/** Returns whether a folder of this name belongs to a session. */
export const isSessionFolder = (name: string): boolean => new RegExp(`^[a-z0-9-]*_[0-9a-f]{${hashLength}}$`).test(name);
