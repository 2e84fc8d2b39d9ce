import { lstat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFolder, withLock } from '@h/files';
import { ContinuityError } from '../errors.js';
import { ifThere } from './errors.js';

/** The name of the folder for files that are not committed. */
export const stateFolderName = '.agent-output';

/** A project's folder for files that are not committed, with the lock on the whole state. */
export interface StateFolder {
  readonly path: string;
  /** Returns a path in the folder. */
  at(...names: readonly string[]): string;
  /** Creates the folder and makes git ignore it. */
  ensure(): Promise<void>;
  /** Runs work under the lock: no other process changes the state meanwhile. */
  exclusive<Result>(work: (writer: StateWriter) => Promise<Result>): Promise<Result>;
}

/** Writes files while the lock is held. */
export interface StateWriter {
  /**
   * Replaces a file atomically. Fails if the lock is no longer held, or if `confirm`, which runs just before, throws.
   */
  readonly replace: (
    path: string,
    text: string,
    options?: { readonly mode?: number | undefined; readonly confirm?: (() => Promise<void>) | undefined },
  ) => Promise<void>;
}

/** Options of {@link createStateFolder}. */
export interface StateFolderOptions {
  readonly project: string;
  readonly lockTimeoutMs: number;
}

export const createStateFolder = ({ project, lockTimeoutMs }: StateFolderOptions): StateFolder => {
  const path = join(project, stateFolderName);
  const at = (...names: readonly string[]): string => join(path, ...names);
  let last: Promise<unknown> = Promise.resolve();
  let isMade: Promise<void> | undefined;

  const make = async (): Promise<void> => {
    for (const folder of [path, at('lock')]) {
      if (!(await isOwn(folder))) await ensureFolder(folder, folder === path ? 0o755 : 0o700);
    }
    await ignoreItself(at('.gitignore'));
  };
  const ensure = async (): Promise<void> => {
    if (isMade !== undefined && (await isOwn(path)) && (await isOwn(at('lock')))) return isMade;
    isMade = make();
    isMade.catch(() => {
      isMade = undefined;
    });
    return isMade;
  };

  return {
    path,
    at,
    ensure,
    exclusive: (work) => {
      const next = last.then(async () => {
        await ensure();
        const lock = at('lock');
        const toError = ({ message }: Error): ContinuityError =>
          new ContinuityError('locked', `${message} If no agent runs in this project, delete the folder.`);
        return withLock(lock, { waitMs: lockTimeoutMs, toError }, (held) =>
          work({
            replace: async (file, text, { mode, confirm } = {}) =>
              held.replaceFile(file, text, { mode: mode ?? 'keep', confirm }),
          }),
        );
      });
      last = next.catch(() => undefined);
      return next;
    },
  };
};

/**
 * A `.gitignore` inside the folder also applies to repositories that are created later, and leaves the project's own
 * unchanged.
 */
const ignoreItself = async (path: string): Promise<void> => {
  // An empty file is left by a crash.
  if (((await ifThere(lstat(path)))?.size ?? 0) === 0) {
    await writeFile(path, '# The state of agents is not committed.\n*\n');
  }
};

/** Whether the folder exists. A link in its place would redirect writes. */
const isOwn = async (path: string): Promise<boolean> => {
  const found = await ifThere(lstat(path));
  if (found === undefined || found.isDirectory()) return found !== undefined;
  throw new ContinuityError(
    'unsafe-path',
    `${path} is a link or a file, not a folder. Remove it: the agent stores its state there.`,
  );
};
