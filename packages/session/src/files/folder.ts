import { createHash } from 'node:crypto';
import { join } from 'node:path';

const maxReadable = 40;
const hashLength = 24;

/** The files of a session. */
export interface SessionFolder {
  readonly session: string;
  readonly path: string;
  /** Everything that ever happened, one record a line; it only grows. */
  readonly journal: string;
  /** The session as it was at some turn, so that what came before need not be read again. */
  readonly snapshot: string;
  /** What lists show. */
  readonly head: string;
}

/**
 * Where a session is kept.
 *
 * Any name will do: what a file system cannot say, or takes for the same (`Alice`, `alice`), is told apart by a hash.
 */
export const folderOf = (directory: string, session: string): SessionFolder => {
  const readable = session
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxReadable);
  const hash = createHash('sha256').update(JSON.stringify(session)).digest('hex').slice(0, hashLength);
  return filesIn(join(directory, `${readable.replace(/^-/, '')}_${hash}`), session);
};

/** The files in a folder that was found. */
export const filesIn = (path: string, session: string): SessionFolder => ({
  session,
  path,
  journal: join(path, 'journal.jsonl'),
  snapshot: join(path, 'snapshot.jsonl'),
  head: join(path, 'head.json'),
});

/** Whether a folder of this name holds a session; others belong to nobody or are being deleted. */
export const isSessionFolder = (name: string): boolean => new RegExp(`^[a-z0-9-]*_[0-9a-f]{${hashLength}}$`).test(name);
