import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { ContinuityError } from '../errors.js';
import { fileErrorCode, ifThere } from './errors.js';
import { isGone, thisProcess } from './process.js';

/** Options of {@link withLock}. */
export interface LockOptions {
  /** A folder for the lock alone. */
  readonly folder: string;
  /** Tells this holder from all others, and is part of file names. */
  readonly token: string;
  /** How long to wait for it, in milliseconds. */
  readonly timeoutMs: number;
}

/** What whoever holds the lock has. */
export interface HeldLock {
  /** Where to write what then moves into place: once the lock was taken away, nothing can be moved from there any more. */
  readonly temporary: string;
  /** @throws ContinuityError `locked` if the lock was taken away */
  check(): Promise<void>;
}

const holderSchema = z.object({
  machine: z.string(),
  boot: z.string(),
  pid: z.int().positive(),
  start: z.string(),
  token: z.string(),
});

/** The lock is held for milliseconds. One that is held by a process that stands still, or that nobody can ask, is taken away after this. */
const abandonedMs = 30_000;
const firstPauseMs = 2;
const longestPauseMs = 20;
/** What a process leaves behind that dies while it takes the lock. Alive, it needs it for as long as it waits. */
const leftoverMs = 600_000;

/**
 * Works while no other process does.
 *
 * The lock is a folder that is moved into place with its holder's name in it. One whose process is dead is taken away, by one process at a
 * time, so that of two that find it dead none takes away the new one of the other. What its holder writes lies in it: a holder that stood
 * still for so long that the lock was taken away cannot move anything into place afterwards.
 *
 * @throws ContinuityError `locked`
 */
export const withLock = async <Result>(
  options: LockOptions,
  work: (lock: HeldLock) => Promise<Result>,
): Promise<Result> => {
  const place = join(options.folder, 'held');
  const isOurs = async (): Promise<boolean> => (await holderOf(place))?.token === options.token;
  await acquire(options, place);
  try {
    await sweep(options);
    return await work({
      temporary: join(place, options.token),
      check: async () => {
        if (!(await isOurs())) throw lockedBy(place, 'it was taken away by another process');
      },
    });
  } finally {
    if (await isOurs()) await takeAway(place, options);
  }
};

const acquire = async (options: LockOptions, place: string): Promise<void> => {
  const candidate = join(options.folder, options.token);
  try {
    await mkdir(candidate, { recursive: true, mode: 0o700 });
    let waitedMs = 0;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const now = await sign(candidate, options);
      if (await moveTo(place, candidate)) return;
      if (await breakIfDead(options, place, now)) continue;
      // Counted, not measured: clocks jump.
      if (waitedMs >= options.timeoutMs) throw lockedBy(place, `it is still held after ${options.timeoutMs} ms`);
      await wait(pauseMs);
      waitedMs += pauseMs;
    }
  } catch (error) {
    await rm(candidate, { recursive: true, force: true });
    throw error;
  }
};

/** Puts its holder's name into a lock. @returns the time of the file system, by which the age of others is measured */
const sign = async (candidate: string, { token }: LockOptions): Promise<number> => {
  const holder = join(candidate, 'holder');
  await writeFile(holder, JSON.stringify({ ...thisProcess(), token } satisfies z.infer<typeof holderSchema>), {
    mode: 0o600,
  });
  return (await stat(holder)).mtimeMs;
};

/** @returns whether it is in place; not, where another one is */
const moveTo = async (place: string, candidate: string): Promise<boolean> => {
  try {
    await rename(candidate, place);
    return true;
  } catch (error) {
    // Systems differ in what they say of a folder that is there already.
    if (
      (await ifThere(stat(place))) !== undefined ||
      fileErrorCode(error) === 'ENOTEMPTY' ||
      fileErrorCode(error) === 'EEXIST'
    ) {
      return false;
    }
    throw error;
  }
};

/** @returns whether it was taken away, so that the next try may succeed */
const breakIfDead = async (options: LockOptions, place: string, now: number): Promise<boolean> => {
  if (!(await isDead(place, now))) return false;
  const breaking = join(options.folder, 'breaking');
  const candidate = join(options.folder, `${options.token}-breaks`);
  await mkdir(candidate, { recursive: true, mode: 0o700 });
  await sign(candidate, options);
  if (!(await moveTo(breaking, candidate))) {
    await rm(candidate, { recursive: true, force: true });
    if (await isDead(breaking, now)) await rm(breaking, { recursive: true, force: true });
    return false;
  }
  try {
    if (!(await isDead(place, now))) return false;
    await takeAway(place, options);
    return true;
  } finally {
    await rm(breaking, { recursive: true, force: true });
  }
};

/** Gone at once, and then removed. */
const takeAway = async (place: string, { folder, token }: LockOptions): Promise<void> => {
  const gone = join(folder, `${token}-gone`);
  await ifThere(rename(place, gone));
  await rm(gone, { recursive: true, force: true });
};

const isDead = async (place: string, now: number): Promise<boolean> => {
  const found = (await ifThere(stat(join(place, 'holder')))) ?? (await ifThere(stat(place)));
  if (found === undefined) return false;
  const holder = await holderOf(place);
  return (holder !== undefined && isGone(holder)) || now - found.mtimeMs > abandonedMs;
};

/** Whose lock it is; nothing where it is not there, or its content was lost with the power. */
const holderOf = async (place: string): Promise<z.infer<typeof holderSchema> | undefined> => {
  const text = await ifThere(readFile(join(place, 'holder'), 'utf8'));
  try {
    return text === undefined ? undefined : holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

/** Removes what processes have left that died while they took the lock. */
const sweep = async ({ folder }: LockOptions): Promise<void> => {
  const { mtimeMs: now } = await stat(join(folder, 'held', 'holder'));
  for (const name of await readdir(folder)) {
    if (name === 'held' || name === 'breaking') continue;
    const path = join(folder, name);
    const holder = await holderOf(path);
    const age = now - ((await ifThere(stat(path)))?.mtimeMs ?? now);
    if ((holder !== undefined && isGone(holder)) || age > leftoverMs) await rm(path, { recursive: true, force: true });
  }
};

const lockedBy = (path: string, reason: string): ContinuityError =>
  new ContinuityError(
    'locked',
    `The lock ${path} could not be used: ${reason}. If no agent runs in this project, take the folder away.`,
  );
