import { rm } from 'node:fs/promises';
import { acquireLock, ensureFolder, LockHeldError, syncFolder, type FileLock } from '@h/files';
import { TurnError } from '@h/turn';
import { anyFunction, nonEmptyString, checkOptions, numberFrom, required, maxTimerMs } from '@h/options';
import type { InboxContents, InboxStore } from '../inbox/inbox-store.js';
import { InboxHeldError } from './inbox-held-error.js';
import { KeptFile } from './kept-file.js';
import { earlierFiles, fileOf, latestFile, load, type FileInboxProblem } from './load.js';

/** Options of {@link fileInboxStore}. */
export interface FileInboxStoreOptions {
  /** The folder, created with the first message. One inbox uses it at a time. */
  readonly directory: string;
  /**
   * How long the folder stays locked by a process on another machine or in another container that shows no sign of
   * life, in milliseconds. The process renews its lease three times in that period. On the same machine, a living
   * process keeps the lock.
   *
   * @defaultValue `30_000`, the default of `@h/files`
   */
  readonly leaseMs?: number | undefined;
  /** Receives a file that could not be read in full. Errors that it throws are ignored. */
  readonly onProblem?: ((problem: FileInboxProblem) => void) | undefined;
}

/**
 * Stores the messages of an inbox in a folder. A confirmed message survives the end of the process and a power failure.
 *
 * One process uses the folder at a time: for others, sending and recovering fail with {@link InboxHeldError} until it
 * has ended. Operations are appended to one file, which is rewritten before its obsolete lines exceed its current ones
 * by a megabyte. The ids of the latest 1000 delivered messages are remembered.
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
    leaseMs: numberFrom(100, maxTimerMs),
    onProblem: anyFunction,
  });
  const { directory, leaseMs = 30_000, onProblem } = options;
  const report = (problem: FileInboxProblem): void => {
    try {
      onProblem?.(problem);
    } catch {
      // An error of the callback has no effect.
    }
  };
  let opening: Promise<void> | undefined;
  let opened: Opened | undefined;
  let closing: Promise<void> | undefined;
  const current = (): Opened => {
    if (!opened || closing) {
      throw new TurnError(
        'inbox-closed',
        `The inbox in ${JSON.stringify(directory)} is not open. Open the store first; a closed store cannot be used again.`,
      );
    }
    return opened;
  };
  const close = async (): Promise<void> => {
    await opening?.catch(() => undefined);
    try {
      await opened?.file.close();
    } finally {
      await opened?.lock.release();
    }
  };
  return {
    open: async () => {
      if (closing || opening) {
        throw new TurnError(
          'inbox-closed',
          `The inbox in ${JSON.stringify(directory)} was opened before. Create a separate store for each inbox.`,
        );
      }
      const folder = openFolder(directory, leaseMs, report);
      opening = folder.then(({ lock, file }) => {
        opened = { lock, file };
      });
      try {
        await opening;
      } catch (error) {
        opening = undefined;
        throw error;
      }
      return (await folder).contents;
    },
    save: async (message) => current().file.add({ type: 'saved', message }),
    remove: async (tag, delivered) => current().file.add({ type: 'removed', tag, delivered }),
    check: async () => current().lock.check(),
    close: () => (closing ??= close()),
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
  await ensureFolder(directory);
  const lock = await lockFolder(directory, leaseMs);
  let file: KeptFile | undefined;
  try {
    const state = await load(directory, onProblem);
    file = new KeptFile(fileOf(directory, lock.generation), lock, state);
    await file.create();
    for (const path of await earlierFiles(directory, lock.generation)) await rm(path, { force: true });
    await syncFolder(directory);
    return { lock, file, contents: state.contents };
  } catch (error) {
    await file?.close().catch(() => undefined);
    await lock.release().catch(() => undefined);
    throw error;
  }
};

/** Locks the folder. Each holder has a numbered file, so numbers continue after the latest file. */
const lockFolder = async (directory: string, leaseMs: number): Promise<FileLock> =>
  acquireLock(directory, {
    leaseMs,
    minGeneration: (await latestFile(directory)) + 1,
    toError: (error) => {
      if (error instanceof LockHeldError) return new InboxHeldError(directory, error.owner);
      const message = `Another process has taken over the inbox in ${JSON.stringify(directory)}. This process stores no more messages; close its inbox.`;
      return new TurnError('inbox-taken', message, { cause: error });
    },
  });
