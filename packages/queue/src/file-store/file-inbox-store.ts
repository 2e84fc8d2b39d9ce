import { mkdir, rm } from 'node:fs/promises';
import { acquireLock, LockHeldError, syncFolder, type FileLock } from '@h/files';
import { TurnError } from '@h/turn';
import { anyFunction, nonEmptyString, checkOptions, numberFrom, required } from '@h/options';
import type { InboxContents, InboxStore } from '../inbox/inbox-store.js';
import { InboxHeldError } from './inbox-held-error.js';
import { KeptFile } from './kept-file.js';
import { earlierFiles, fileOf, latestFile, load, type FileInboxProblem } from './load.js';

/** Options of {@link fileInboxStore}. */
export interface FileInboxStoreOptions {
  /** The folder, which is made when the first message is sent. It belongs to one inbox at a time. */
  readonly directory: string;
  /**
   * How long a process that cannot be seen from here (of another machine or container) keeps the folder without a sign of life, in
   * milliseconds. It gives three in that time. A process of the same machine keeps it as long as it lives.
   *
   * @defaultValue `30_000`
   */
  readonly leaseMs?: number | undefined;
  /** Receives a file that could not be read in full. Errors that it throws are ignored. */
  readonly onProblem?: ((problem: FileInboxProblem) => void) | undefined;
}

/**
 * Keeps the messages of an inbox in a folder: what was confirmed survives the end of the process at any moment, and a loss of power.
 *
 * One process has the folder at a time: for others, sending and recovering fail with {@link InboxHeldError} until it has ended. What is
 * kept is one file, to which lines are added; it is rewritten before it is a megabyte larger than twice what still counts. It
 * remembers the latest 1000 ids that were delivered.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const inbox = createInbox(agent, lanes, { store: fileInboxStore({ directory: '.agent/inbox' }) });
 * await recoverTurns(agent, { policy: 'resume' });
 * await inbox.recover({ sessions });
 * const sent = inbox.send('alice', 'Only the unit tests, please.', { id: 'update-17' });
 * if (await sent.accepted) response.end('ok');
 * ```
 */
export const fileInboxStore = (options: FileInboxStoreOptions): InboxStore => {
  checkOptions('fileInboxStore()', options, {
    directory: required(nonEmptyString),
    leaseMs: numberFrom(100, 2_147_483_647),
    onProblem: anyFunction,
  });
  const { directory, leaseMs = 30_000, onProblem } = options;
  const tell = (problem: FileInboxProblem): void => {
    try {
      onProblem?.(problem);
    } catch {
      // It only looks.
    }
  };
  let opened: Opened | undefined;
  let isClosed = false;
  const current = (): Opened => {
    if (!opened || isClosed) {
      throw new TurnError('inbox-closed', `The inbox in ${JSON.stringify(directory)} is not open.`);
    }
    return opened;
  };
  return {
    open: async () => {
      if (isClosed || opened) {
        throw new TurnError(
          'inbox-closed',
          `The inbox in ${JSON.stringify(directory)} is open already. Create another store for another inbox.`,
        );
      }
      const { contents, ...rest } = await openFolder(directory, leaseMs, tell);
      opened = rest;
      return contents;
    },
    save: async (message) => current().file.add({ type: 'saved', message }),
    remove: async (tag, delivered) => current().file.add({ type: 'removed', tag, delivered }),
    check: async () => current().lock.check(),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      try {
        await opened?.file.close();
      } finally {
        await opened?.lock.release();
      }
    },
  };
};

interface Opened {
  readonly lock: FileLock;
  readonly file: KeptFile;
}

const openFolder = async (
  directory: string,
  leaseMs: number,
  onProblem: (problem: FileInboxProblem) => void,
): Promise<Opened & { readonly contents: InboxContents }> => {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await lockFolder(directory, leaseMs);
  try {
    const state = await load(directory, onProblem);
    const file = new KeptFile(fileOf(directory, lock.generation), lock, state);
    await file.create();
    await lock.check();
    for (const path of await earlierFiles(directory, lock.generation)) await rm(path, { force: true });
    await syncFolder(directory);
    return { lock, file, contents: state.contents };
  } catch (error) {
    await lock.release().catch(() => undefined);
    throw error;
  }
};

/** Locks the folder. Each holder has a file with its number, so numbers continue after the latest file. */
const lockFolder = async (directory: string, leaseMs: number): Promise<FileLock> =>
  acquireLock(directory, {
    leaseMs,
    minGeneration: (await latestFile(directory)) + 1,
    toError: (error) => {
      if (error instanceof LockHeldError) return new InboxHeldError(directory, error.owner);
      const message = `Another process has taken over the inbox in ${JSON.stringify(directory)}. Nothing more is stored by this one.`;
      return new TurnError('inbox-taken', message, { cause: error });
    },
  });
