import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { encodeRecord, TurnError, type JournalRecord, type OpenSession } from '@h/turn';
import { lockSession, type SessionLock } from '../lock/session-lock.js';
import type { SessionFolder } from './folder.js';
import { GroupCommit } from './group-commit.js';
import { advance, encodeHead, type Head } from './head.js';
import type { Loaded } from './load.js';
import { loadAndMend } from './mend.js';
import type { FileSettings } from './options.js';
import { replaceByCopy, replaceFile } from './write-file.js';

/** Opens a session for writing. @throws SessionBusyError when somebody else holds it */
export const openFiles = async (folder: SessionFolder, settings: FileSettings): Promise<OpenSession> => {
  const lock = await lockFolder(folder, settings.leaseMs);
  try {
    const loaded = await loadAndMend(folder, settings, lock);
    return new FileSession(folder, settings, lock, loaded);
  } catch (error) {
    await lock.release().catch(() => undefined);
    throw error;
  }
};

const maxTries = 10;

/** Makes the folder of a session and locks it. Somebody may delete it in between. */
const lockFolder = async ({ path, session }: SessionFolder, leaseMs: number): Promise<SessionLock> => {
  for (let tries = 1; ; tries += 1) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    try {
      return await lockSession({ folder: path, session, leaseMs });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === maxTries) throw error;
    }
  }
};

class FileSession implements OpenSession {
  readonly snapshot: Loaded['snapshot'];
  readonly journal: Loaded['journal'];
  readonly #folder: SessionFolder;
  readonly #settings: FileSettings;
  readonly #lock: SessionLock;
  readonly #file: GroupCommit;
  readonly #head: Head;
  #next: number;
  #isChanged = false;
  #closing: Promise<void> | undefined;

  constructor(folder: SessionFolder, settings: FileSettings, lock: SessionLock, { snapshot, journal, head }: Loaded) {
    this.#folder = folder;
    this.#settings = settings;
    this.#lock = lock;
    this.snapshot = snapshot;
    this.journal = journal;
    this.#head = head;
    this.#next = journal.length;
    const isNew = settings.fsync !== 'never' && head.size === 0;
    this.#file = new GroupCommit({
      path: folder.journal,
      lock,
      newIn: isNew ? [folder.path, dirname(folder.path)] : [],
    });
  }

  append(record: JournalRecord): Promise<void> {
    if (this.#closing) return Promise.reject(this.#closed());
    const { seq, event } = record;
    let line: string;
    try {
      if (seq !== 0 && seq !== this.#next) throw this.#gap(seq);
      line = encodeRecord(record);
    } catch (error) {
      this.#file.fail(error instanceof Error ? error : new Error(String(error)));
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
    this.#next = seq + 1;
    this.#isChanged = true;
    advance(this.#head, seq, event);
    this.#head.size += Buffer.byteLength(line) + 1;
    const isSynced =
      this.#settings.fsync === 'record' || (this.#settings.fsync === 'turn' && event.type === 'turn.end');
    return this.#file.append(line, isSynced);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#file.close();
      if (this.#file.isUnsure) await this.#goOnInCopy();
      if (this.#isChanged && !this.#file.hasFailed) await this.#writeHead();
    } finally {
      await this.#lock.release();
    }
  }

  /** A disk that fails once more has nothing better to offer. */
  #goOnInCopy(): Promise<void> {
    return replaceByCopy(this.#folder.journal, this.#lock).catch(() => undefined);
  }

  /** What it says can be told from the journal, so that a loss of power may take it, and a full disk may refuse it. */
  #writeHead(): Promise<void> {
    return replaceFile(this.#folder.head, [encodeHead(this.#head)], { isSynced: false, lock: this.#lock }).catch(
      () => undefined,
    );
  }

  #closed(): TurnError {
    return new TurnError(
      'session-closed',
      `The session ${JSON.stringify(this.#folder.session)} is closed; nothing more is written.`,
    );
  }

  #gap(seq: number): TurnError {
    return new TurnError(
      'journal-gap',
      `Record ${seq} cannot follow record ${this.#next - 1} in the journal of ${JSON.stringify(this.#folder.session)}.`,
    );
  }
}
