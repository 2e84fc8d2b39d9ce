// oxlint-disable-next-line h/no-clock -- for names of files that are gone when their writer returns
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ContinuityError } from '../errors.js';
import type { Clock } from '../clock.js';
import { excludeFromGit } from './git-exclude.js';
import { ifThere } from './errors.js';
import { withLock } from './lock.js';
import { replaceFile } from './replace-file.js';

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
  /** Replaces a file atomically; fails if the lock is no longer held. */
  readonly replace: (path: string, text: string, mode?: number) => Promise<void>;
}

/** Options of {@link createStateFolder}. */
export interface StateFolderOptions {
  readonly project: string;
  readonly clock: Clock;
  readonly lockTimeoutMs: number;
}

const temporaryPrefix = 'write-';
/** What a process leaves behind that dies while it takes the lock; alive, it needs it for less than this. */
const lockLeftovers = /^lock(?:\.break)?\.[0-9a-f-]{36}$/;
const leftoverMs = 60_000;

export const createStateFolder = ({ project, clock, lockTimeoutMs }: StateFolderOptions): StateFolder => {
  const path = join(project, stateFolderName);
  const at = (...names: readonly string[]): string => join(path, ...names);
  let last: Promise<unknown> = Promise.resolve();
  let isMade: Promise<void> | undefined;

  const make = async (): Promise<void> => {
    await mkdir(path, { recursive: true });
    const found = await lstat(path);
    if (!found.isDirectory()) throw new ContinuityError('unsafe-path', `${path} is no folder of its own but a link; take it away, the agent keeps its state there.`);
    await excludeFromGit(project, `/${stateFolderName}/`);
  };
  const ensure = async (): Promise<void> => {
    if (isMade !== undefined && (await ifThere(lstat(path))) !== undefined) return isMade;
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
        return withLock({ path: at('lock'), clock, token: randomUUID(), timeoutMs: lockTimeoutMs }, async (stillHeld) => {
          const temporary = at(`${temporaryPrefix}${randomUUID()}`);
          await sweep(path, clock);
          return work({ replace: (file, text, mode) => replaceFile(file, text, { temporary, mode, confirm: stillHeld }) });
        });
      });
      last = next.catch(() => undefined);
      return next;
    },
  };
};

/** Only who holds the lock writes: what is half-written now was left by a writer that died. */
const sweep = async (folder: string, clock: Clock): Promise<void> => {
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (name.startsWith(temporaryPrefix)) await rm(file, { force: true });
    else if (lockLeftovers.test(name) && clock() - ((await ifThere(lstat(file)))?.mtimeMs ?? Infinity) > leftoverMs) await rm(file, { force: true });
  }
};
