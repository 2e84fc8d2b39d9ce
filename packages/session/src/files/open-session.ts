import { dirname } from 'node:path';
import type { FileLock } from '@h/files';
import type { JournalRecord, OpenSession, PastTurn, TurnEvent } from '@h/turn';
import { sessionClosed } from '../session-errors.js';
import type { SessionFolder } from './folder.js';
import { GroupCommit, type OpenFiles } from './group-commit.js';
import { advance, emptyHead, encodeHead, type Head } from './head.js';
import { encodeLine } from './lines.js';
import type { Loaded } from './load.js';
import type { FileSettings } from './options.js';
import type { PastTurns } from './past-turns.js';
import { recall, remember, type RecentCheckpoints } from './recent.js';
import { RecordWriter } from './records.js';
import { loadAndRepair } from './repair.js';
import { lockSession } from './session-lock.js';

/** A session in files that is open for writing. */
export interface OpenFileSession extends OpenSession {
  /**
   * Returns a turn that this session has begun, if it is among the latest 1,000.
   *
   * `append()` rejects the second start of such a turn with `DuplicateTurnError`.
   */
  pastTurn(turn: string): PastTurn | undefined;
}

/** Opens a session for writing. @throws SessionHeldError while it is open elsewhere */
export const openFiles = (
  folder: SessionFolder,
  settings: FileSettings,
  files: OpenFiles,
  recent: RecentCheckpoints,
): Promise<OpenFileSession> =>
  files.openSession(async () => {
    const lock = await lockSession(folder, { leaseMs: settings.leaseMs });
    try {
      const checkpoint = await recall(recent, folder, lock);
      const { loaded, before } = await loadAndRepair(folder, settings, lock, checkpoint);
      return new FileSession(folder, settings, lock, loaded, files, () => remember(recent, folder, lock, before));
    } catch (error) {
      await lock.release().catch(() => undefined);
      throw error;
    }
  });

class FileSession implements OpenFileSession {
  readonly snapshot: Loaded['snapshot'];
  readonly journal: Loaded['journal'];
  readonly #folder: SessionFolder;
  readonly #settings: FileSettings;
  readonly #lock: FileLock;
  readonly #files: OpenFiles;
  readonly #file: GroupCommit;
  readonly #head: Head;
  readonly #turns: PastTurns;
  readonly #writer = new RecordWriter();
  /** The name of the session in the first record. */
  #recordedName: string | undefined;
  #next: number;
  #isChanged = false;
  readonly #onStored: () => Promise<void>;
  #closing: Promise<void> | undefined;

  constructor(
    folder: SessionFolder,
    settings: FileSettings,
    lock: FileLock,
    loaded: Loaded,
    files: OpenFiles,
    onStored: () => Promise<void>,
  ) {
    const { snapshot, journal, head, turns } = loaded;
    this.#folder = folder;
    this.#settings = settings;
    this.#lock = lock;
    this.#files = files;
    this.#onStored = onStored;
    this.snapshot = snapshot;
    this.journal = journal;
    this.#head = head;
    this.#turns = turns;
    this.#next = journal.length;
    const isNew = settings.fsync !== 'never' && head.size === 0;
    this.#file = new GroupCommit({
      path: folder.journal,
      lock,
      files,
      newIn: isNew ? [folder.path, dirname(folder.path)] : [],
      onFirst: lock.wasEmpty ? () => this.#nameSession() : undefined,
    });
  }

  pastTurn(turn: string): PastTurn | undefined {
    return this.#turns.get(turn);
  }

  append(record: JournalRecord): Promise<void> {
    if (this.#closing) return Promise.reject(sessionClosed(this.#folder.session));
    if (this.#file.failure) return Promise.reject(this.#file.failure);
    const { seq, event } = record;
    let line: string;
    try {
      this.#turns.checkNext(record, this.#folder.session, this.#next);
      line = encodeLine(this.#writer.encode(record));
    } catch (error) {
      return Promise.reject(this.#file.fail(error));
    }
    this.#next = seq + 1;
    this.#isChanged = true;
    if (seq === 0 && event.type === 'turn.start') this.#recordedName ??= event.session;
    this.#turns.add(record);
    advance(this.#head, seq, event);
    this.#head.size += Buffer.byteLength(line) + 1;
    return this.#file.append(line, isSynced(event, this.#settings));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { journal, head } = this.#folder;
    try {
      await this.#file.close();
      await this.#files.write(async () => {
        // If the copy fails as well, nothing more can be done.
        if (this.#file.isUnsure) await this.#lock.replaceFile(journal, { copyOf: journal }).catch(() => undefined);
        if (this.#file.failure) return;
        // Not synced, because it can be rebuilt from the journal; a full disk may reject it.
        const summary = this.#isChanged ? encodeHead(this.#head) : undefined;
        if (summary) await this.#lock.replaceFile(head, summary, { sync: false }).catch(() => undefined);
        await this.#onStored();
      });
    } finally {
      await this.#lock.release();
    }
  }

  /** Writes the head of a new session, unless its records contain its name, so that it is found after a crash. */
  async #nameSession(): Promise<void> {
    const { session, head } = this.#folder;
    if (this.#recordedName === session) return;
    await this.#lock.replaceFile(head, encodeHead(emptyHead(session)), { sync: this.#settings.fsync !== 'never' });
  }
}

/** Returns whether a record is flushed to the disk before it is confirmed, with all records before it. */
const isSynced = (event: TurnEvent, { fsync }: FileSettings): boolean => {
  if (fsync !== 'record') return fsync === 'turn' && event.type === 'turn.end';
  if (event.type === 'tool.call') return event.call.effect !== 'read-only' && event.call.idempotent !== true;
  if (event.type === 'history.append') return !repeatableOrigins.has(event.origin);
  return !repeatable.has(event.type);
};

/** Events that a turn may safely repeat after a power failure. */
const repeatable: ReadonlySet<string> = new Set<TurnEvent['type']>([
  'session.loaded',
  'session.state',
  'model.request',
  'model.response',
  'model.error',
  'tool.result',
]);

const repeatableOrigins: ReadonlySet<string> = new Set(['response', 'results']);
