import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from '@h/files';
import { ContinuityError } from '../errors.js';
import { ifThere } from './errors.js';

/** The name of the folder for what is not to be committed. */
export const stateFolderName = '.agent-output';

/** A project's folder of what is not to be committed, and the lock on all of its state. */
export interface StateFolder {
  readonly path: string;
  /** The path of something in it. */
  at(...names: readonly string[]): string;
  /** Makes it, and tells git to ignore it. */
  ensure(): Promise<void>;
  /** Works while nobody else changes the project's state. */
  exclusive<Result>(work: (writer: StateWriter) => Promise<Result>): Promise<Result>;
}

/** What whoever holds the lock may do. */
export interface StateWriter {
  /** Replaces a file atomically; fails if the lock is no longer held, or with what `confirm` throws just before it takes effect. */
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
      if (!(await isOwn(folder))) await mkdir(folder, { recursive: true, mode: folder === path ? 0o755 : 0o700 });
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

/** A rule of the folder's own holds in any repository, also in one that is made later, and the project's rules stay as its people wrote them. */
const ignoreItself = async (path: string): Promise<void> => {
  // One that is empty is what a crash has left.
  if (((await ifThere(lstat(path)))?.size ?? 0) === 0) {
    await writeFile(path, '# The state of agents, which nobody commits.\n*\n');
  }
};

/** Whether a folder is there. A link in its place would lead what is written elsewhere. */
const isOwn = async (path: string): Promise<boolean> => {
  const found = await ifThere(lstat(path));
  if (found === undefined || found.isDirectory()) return found !== undefined;
  throw new ContinuityError(
    'unsafe-path',
    `${path} is no folder of its own but a link or a file; take it away, the agent keeps its state there.`,
  );
};
