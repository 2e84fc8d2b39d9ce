import { fileSize } from '@h/files';
import { foldJournal, type Message, type SessionStore, type UnfinishedTurn } from '@h/turn';
import { readArchive, type ArchivedTurn } from './archive.js';
import { noCheckpoint, readCheckpoint } from './checkpoint.js';
import { findAll, type Found } from './find-sessions.js';
import { folderOf, type SessionFolder } from './folder.js';
import { OpenFiles } from './group-commit.js';
import { currentHead, readHead, type Head } from './head.js';
import { load } from './load.js';
import { openFiles, type OpenFileSession } from './open-session.js';
import { settingsOf, type FileSessionsOptions, type FileSettings, type SessionProblem } from './options.js';
import { RecentSessions } from '../recent-sessions.js';
import type { RecentCheckpoints } from './recent.js';
import { removeSession, sweepDeleted } from './remove-session.js';
import { isLocked } from './session-lock.js';

/** A session in a list. */
export interface SessionInfo {
  readonly session: string;
  /** When its first turn began, in milliseconds since 1970. */
  readonly createdAt: number;
  /** When its latest record was written, in milliseconds since 1970. */
  readonly updatedAt: number;
  readonly turns: number;
  /** The beginning of the first input, at most 200 characters. */
  readonly firstInput: string;
  readonly latestTurn: string;
  /**
   * `running`: a living process holds it; `unfinished`: its latest turn has not ended, and no process holds it; `damaged`:
   * no turn can be read. Opening a damaged session backs its records up and starts without them.
   */
  readonly state: 'idle' | 'running' | 'unfinished' | 'damaged';
  /** Size of its journal. */
  readonly bytes: number;
}

/** A session store in a folder. */
export interface FileSessions extends SessionStore {
  open(session: string): Promise<OpenFileSession>;
  locate(turn: string): Promise<string | undefined>;
  unfinished(): Promise<readonly UnfinishedTurn[]>;
  /** Lists all sessions with at least one turn, most recently used first. Damaged ones have no `turns`. */
  list(): Promise<readonly SessionInfo[]>;
  /** Returns the current history of a session; empty for an unknown one. Needs no lock. */
  messages(session: string): Promise<readonly Message[]>;
  /** Yields every turn of a session from the first, including what compaction has replaced since. */
  archive(session: string): AsyncIterable<ArchivedTurn>;
  /** Deletes a session with all its files. @throws SessionBusyError while it is open */
  delete(session: string): Promise<void>;
}

/**
 * Stores sessions in files. A confirmed record survives the end of the process at any moment.
 *
 * Each session has a folder with a journal, to which records are appended. Opening a session reads a snapshot and the
 * records after it. A turn locks its session, and the lock ends with the process, so several processes can share the
 * folder. Every line has a checksum: damage is repaired or reported to `onProblem`.
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
  const files = new OpenFiles();
  const recent: RecentCheckpoints = new RecentSessions();
  /** Sessions of the unfinished turns that were listed last; they are located next. */
  let found: ReadonlyMap<string, string> = new Map();
  return {
    open: (session) => openFiles(folderOf(directory, session), settings, files, recent),
    locate: async (turn) => {
      const session = found.get(turn);
      if (session !== undefined && (await latestOf(folderOf(directory, session))) === turn) return session;
      for await (const other of findAll(settings, sessionWith(turn))) return other;
      return undefined;
    },
    unfinished: async () => {
      const sweep = (folder: SessionFolder): Promise<void> => sweepDeleted(folder, leaseMs);
      const turns = await collect(findAll({ ...settings, onEmpty: sweep }, unfinishedIn));
      found = new Map(turns.map(({ turn, session }) => [turn, session]));
      return turns.toSorted((left, right) => left.startedAt - right.startedAt);
    },
    list: async () => {
      const infos = await collect(findAll(settings, infoOf));
      return infos.toSorted((left, right) => right.updatedAt - left.updatedAt);
    },
    messages: (session) => readMessages(folderOf(directory, session), settings),
    archive: (session) => archiveOf(folderOf(directory, session)),
    delete: (session) => removeSession(folderOf(directory, session), leaseMs),
  };
};

const readMessages = async (folder: SessionFolder, { onProblem }: FileSettings): Promise<readonly Message[]> => {
  if (await isDeleted(folder)) return [];
  const report = (kind: SessionProblem['kind'], path: string, message: string): void =>
    onProblem({ kind, session: folder.session, path, backup: undefined, bytes: 0, message });
  const checkpoint = await readCheckpoint(folder).catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) throw error;
    report('corrupt-snapshot', folder.snapshot, 'The snapshot is damaged. The history was read from the journal.');
    return undefined;
  });
  const { snapshot, journal, damage } = await load(folder.journal, checkpoint ?? noCheckpoint(folder.session));
  // An incomplete record may be one that is being written.
  if (damage && !damage.isTorn) report('corrupt-journal', folder.journal, damage.reason);
  return [...foldJournal(snapshot, journal).messages];
};

async function* archiveOf(folder: SessionFolder): AsyncGenerator<ArchivedTurn> {
  if (!(await isDeleted(folder))) yield* readArchive(folder.journal);
}

const isDeleted = async (folder: SessionFolder): Promise<boolean> => {
  const head = await readHead(folder).catch(() => undefined);
  return head?.isDeleted === true;
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

const infoOf = async ({ head, folder, isDamaged }: Found): Promise<SessionInfo> => ({
  session: head.session,
  createdAt: head.createdAt,
  updatedAt: head.updatedAt,
  turns: head.turns,
  firstInput: head.firstInput,
  latestTurn: head.latest?.turn ?? '',
  state: isDamaged ? 'damaged' : await stateOf(head, folder),
  bytes: await fileSize(folder.journal).catch(() => head.size),
});

const stateOf = async (head: Head, folder: SessionFolder): Promise<SessionInfo['state']> => {
  if (await isLocked(folder.path)) return 'running';
  return head.latest?.ended === false ? 'unfinished' : 'idle';
};
