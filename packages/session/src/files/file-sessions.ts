import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { foldJournal, TurnError, type Message, type OpenSession, type SessionStore, type UnfinishedTurn } from '@h/turn';
import { isLocked, lockSession } from '../lock/session-lock.js';
import { readArchive, type ArchivedTurn } from './archive.js';
import { noCheckpoint, readCheckpoint } from './checkpoint.js';
import { filesIn, folderOf, isSessionFolder, type SessionFolder } from './folder.js';
import { currentHead, type Head } from './head.js';
import { load } from './load.js';
import { openFiles } from './open-session.js';
import { settingsOf, type FileSessionsOptions } from './options.js';

/** A session in a list. */
export interface SessionInfo {
  readonly session: string;
  /** When its first turn began and when its latest record was written, as milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly turns: number;
  /** The beginning of what was said first, at most 200 characters. */
  readonly firstInput: string;
  readonly latestTurn: string;
  /** `running`: a living process holds it; `unfinished`: its latest turn never ended, and its process is gone. */
  readonly state: 'idle' | 'running' | 'unfinished';
  /** Size of its journal. */
  readonly bytes: number;
}

/** A session store in a folder. */
export interface FileSessions extends SessionStore {
  open(session: string): Promise<OpenSession>;
  locate(turn: string): Promise<string | undefined>;
  unfinished(): Promise<readonly UnfinishedTurn[]>;
  /** All sessions with at least one turn, the one that was used last first. */
  list(): Promise<readonly SessionInfo[]>;
  /** The history of a session as it stands; empty for an unknown one. Needs no lock. */
  messages(session: string): Promise<readonly Message[]>;
  /** Every turn of a session as it was, from the first one on: also what compaction has replaced since. */
  archive(session: string): AsyncIterable<ArchivedTurn>;
  /** Removes a session with all that was kept of it; fails with `SessionBusyError` while a turn runs in it. */
  delete(session: string): Promise<void>;
}

/**
 * Keeps sessions in files: what was confirmed survives the end of the process at any moment.
 *
 * Each session has a folder with its journal, one record a line, to which is only ever added. Opening a session reads a
 * snapshot and what came after it, not the whole. A turn holds its session by a lock that ends with the process, so
 * several processes may share the folder.
 *
 * @throws InvalidInputError when an option is unknown or has the wrong shape
 *
 * @example
 * ```ts
 * const sessions = fileSessions({ directory: '.agent/sessions' });
 * const agent = harness({ model, tools, sessions }).pipe();
 * const [latest] = await sessions.list();
 * ```
 */
export const fileSessions = (options: FileSessionsOptions): FileSessions => {
  const settings = settingsOf(options);
  const { directory } = settings;
  const heads = (): AsyncGenerator<Found> => findAll(directory);
  return {
    open: (session) => openFiles(folderOf(directory, session), settings),
    locate: async (turn) => {
      for await (const { head } of heads()) if (head.latest?.turn === turn) return head.session;
      return undefined;
    },
    unfinished: async () => {
      const turns: UnfinishedTurn[] = [];
      for await (const { head, folder } of heads()) {
        if (head.latest?.ended !== false || (await isLocked(folder.path))) continue;
        turns.push({ turn: head.latest.turn, session: head.session, startedAt: head.latest.startedAt });
      }
      return turns.toSorted((left, right) => left.startedAt - right.startedAt);
    },
    list: async () => {
      const infos: SessionInfo[] = [];
      for await (const found of heads()) infos.push(await infoOf(found));
      return infos.toSorted((left, right) => right.updatedAt - left.updatedAt);
    },
    messages: async (session) => {
      const folder = folderOf(directory, session);
      const checkpoint = await readCheckpoint(folder).catch(() => undefined);
      const { snapshot, journal } = await load(folder.journal, checkpoint ?? noCheckpoint(session));
      return [...foldJournal(snapshot, journal).messages];
    },
    archive: (session) => readArchive(folderOf(directory, session).journal),
    delete: (session) => remove(folderOf(directory, session), settings.leaseMs),
  };
};

interface Found {
  readonly head: Head;
  readonly folder: SessionFolder;
}

const readTogether = 16;

/** All sessions with a turn. Those that a later release has written are not for us to see. */
async function* findAll(directory: string): AsyncGenerator<Found> {
  const names = (await namesIn(directory)).filter(isSessionFolder);
  for (let from = 0; from < names.length; from += readTogether) {
    const found = await Promise.all(names.slice(from, from + readTogether).map((name) => find(filesIn(join(directory, name), ''))));
    for (const each of found) if (each && each.head.turns > 0) yield each;
  }
}

const find = async (folder: SessionFolder): Promise<Found | undefined> => {
  try {
    return { folder, head: await currentHead(folder) };
  } catch (error) {
    if (error instanceof TurnError && error.code === 'unsupported-version') return undefined;
    throw error;
  }
};

const namesIn = async (directory: string): Promise<readonly string[]> => {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};

const stateOf = async (head: Head, folder: SessionFolder): Promise<SessionInfo['state']> => {
  if (await isLocked(folder.path)) return 'running';
  return head.latest?.ended === false ? 'unfinished' : 'idle';
};

const infoOf = async ({ head, folder }: Found): Promise<SessionInfo> => ({
  session: head.session,
  createdAt: head.createdAt,
  updatedAt: head.updatedAt,
  turns: head.turns,
  firstInput: head.firstInput,
  latestTurn: head.latest?.turn ?? '',
  state: await stateOf(head, folder),
  bytes: await stat(folder.journal).then(({ size }) => size, () => head.size),
});

/** Takes a session out of sight before it is removed, so that nobody finds half of it. */
const remove = async ({ path, session }: SessionFolder, leaseMs: number): Promise<void> => {
  const isThere = await stat(path).then(() => true, () => false);
  if (!isThere) return;
  const lock = await lockSession({ folder: path, session, leaseMs });
  // Not the name of a session folder, so that nobody takes it for one.
  const away = join(dirname(path), `.deleted-${basename(path)}-${lock.generation}`);
  await lock.release();
  await rename(path, away);
  await rm(away, { recursive: true, force: true });
};
