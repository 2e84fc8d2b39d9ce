import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnError } from '@h/turn';
import { processState, thisProcess, type ProcessMark } from '@h/process';
import { ifThere, replaceFile, syncFolder } from './files.js';

/** The folder of this process: only it writes there, as long as it lives. */
export interface Claim {
  readonly folder: string;
  /** @throws TurnError `store-taken` when others have taken this process for dead */
  check(): Promise<void>;
  /** Whoever comes next may have what is left. */
  release(): Promise<void>;
}

const ownerFile = 'owner';
const prefix = 'process-';

const draftPrefix = '.new-';

/** Whether a folder is one that was never completed. */
export const isDraft = (name: string): boolean => name.startsWith(draftPrefix);

export const isProcessFolder = (name: string): boolean => name.startsWith(prefix);

/** Makes a folder for this process, complete at once, and renews it so that processes on other machines see that it lives. */
export const makeClaim = async (directory: string, leaseMs: number): Promise<Claim> => {
  // oxlint-disable-next-line h/no-clock -- each process, and each store in it, has a folder of its own
  const id = crypto.randomUUID();
  const draft = join(directory, `${draftPrefix}${id}`);
  const folder = join(directory, `${prefix}${id}`);
  await mkdir(draft, { recursive: true, mode: 0o700 });
  const text = JSON.stringify({ ...thisProcess(), leaseMs });
  await replaceFile(join(draft, ownerFile), text);
  await rename(draft, folder);
  await syncFolder(directory);
  const path = join(folder, ownerFile);
  // That it cannot be renewed shows when something is written.
  const timer = setInterval(() => void writeOver(path, text).catch(() => undefined), leaseMs / 3);
  timer.unref();
  return {
    folder,
    check: async () => {
      if (await ifThere(stat(path))) return;
      clearInterval(timer);
      throw new TurnError(
        'store-taken',
        `Another process has taken this one for dead and has its records from ${JSON.stringify(folder)}; nothing more is kept.`,
      );
    },
    release: async () => {
      clearInterval(timer);
      await rm(path, { force: true });
    },
  };
};

/** Written over, a file has a new time and is never empty meanwhile. */
const writeOver = async (path: string, text: string): Promise<void> => {
  const handle = await open(path, 'r+');
  try {
    await handle.write(text, 0);
  } finally {
    await handle.close();
  }
};

/** Whether nobody writes in a folder any more: its owner has let it go, is dead, or has not been heard of for as long as it promised. */
export const isLeft = async (folder: string, now: number): Promise<boolean> => {
  const path = join(folder, ownerFile);
  const [text, stats] = await Promise.all([ifThere(readFile(path, 'utf8')), ifThere(stat(path))]);
  if (text === undefined || stats === undefined) return true;
  const owner = parse(text);
  if (!owner) return true;
  const state = processState(owner);
  return state === 'unknown' ? now - stats.mtimeMs > owner.leaseMs : state === 'dead';
};

/** Lets the owner of a folder, should it live after all, know that it has been given up. */
export const takeAway = (folder: string): Promise<void> => rm(join(folder, ownerFile), { force: true });

const parse = (text: string): (ProcessMark & { readonly leaseMs: number }) | undefined => {
  try {
    return JSON.parse(text) as ProcessMark & { readonly leaseMs: number };
  } catch {
    return undefined; // Empty after a loss of power, which no owner outlives.
  }
};
