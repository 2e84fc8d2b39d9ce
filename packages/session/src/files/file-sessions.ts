import { stat } from 'node:fs/promises';
import { foldJournal, type Message, type OpenSession, type SessionStore, type UnfinishedTurn } from '@h/turn';
import { isLocked } from '../lock/session-lock.js';
import { readArchive, type ArchivedTurn } from './archive.js';
import { noCheckpoint, readCheckpoint } from './checkpoint.js';
import { findAll, type Found } from './find-sessions.js';
import { folderOf, type SessionFolder } from './folder.js';
import { currentHead, type Head } from './head.js';
import { load } from './load.js';
import { openFiles } from './open-session.js';
import { settingsOf, type FileSessionsOptions } from './options.js';
import { removeDeleted, removeSession } from './remove-session.js';

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
 * @throws InvalidOptionError
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
  const { directory, leaseMs } = settings;
  /** Where the turns are that were found open last: each of them is about to be looked for. */
  let found: ReadonlyMap<string, string> = new Map();
  return {
    open: (session) => openFiles(folderOf(directory, session), settings),
    locate: async (turn) => {
      const session = found.get(turn);
      if (session !== undefined && (await latestOf(folderOf(directory, session))) === turn) return session;
      for await (const other of findAll(settings, sessionWith(turn))) return other;
      return undefined;
    },
    unfinished: async () => {
      await removeDeleted(directory);
      const turns = await collect(findAll(settings, unfinishedIn));
      found = new Map(turns.map(({ turn, session }) => [turn, session]));
      return turns.toSorted((left, right) => left.startedAt - right.startedAt);
    },
    list: async () => {
      const infos = await collect(findAll(settings, infoOf));
      return infos.toSorted((left, right) => right.updatedAt - left.updatedAt);
    },
    messages: async (session) => {
      const folder = folderOf(directory, session);
      const checkpoint = await readCheckpoint(folder).catch(() => undefined);
      const { snapshot, journal } = await load(folder.journal, checkpoint ?? noCheckpoint(session));
      return [...foldJournal(snapshot, journal).messages];
    },
    archive: (session) => readArchive(folderOf(directory, session).journal),
    delete: (session) => removeSession(folderOf(directory, session), leaseMs),
  };
};

const collect = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
};

const latestOf = async (folder: SessionFolder): Promise<string | undefined> => {
  const head = await currentHead(folder).catch(() => undefined);
  return head?.latest?.turn;
};

const sessionWith =
  (turn: string) =>
  ({ head }: Found): Promise<string | undefined> =>
    Promise.resolve(head.latest?.turn === turn ? head.session : undefined);

const unfinishedIn = async ({ head: { latest, session }, folder }: Found): Promise<UnfinishedTurn | undefined> => {
  if (latest?.ended !== false || (await isLocked(folder.path))) return undefined;
  return { turn: latest.turn, session, startedAt: latest.startedAt };
};

const infoOf = async ({ head, folder }: Found): Promise<SessionInfo> => ({
  session: head.session,
  createdAt: head.createdAt,
  updatedAt: head.updatedAt,
  turns: head.turns,
  firstInput: head.firstInput,
  latestTurn: head.latest?.turn ?? '',
  state: await stateOf(head, folder),
  bytes: await stat(folder.journal).then(
    ({ size }) => size,
    () => head.size,
  ),
});

const stateOf = async (head: Head, folder: SessionFolder): Promise<SessionInfo['state']> => {
  if (await isLocked(folder.path)) return 'running';
  return head.latest?.ended === false ? 'unfinished' : 'idle';
};
