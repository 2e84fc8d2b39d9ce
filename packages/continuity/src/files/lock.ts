import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { ContinuityError } from '../errors.js';
import type { Clock } from '../clock.js';
import { fileErrorCode, ifThere } from './errors.js';

/** Options of {@link withLock}. */
export interface LockOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Tells this holder from all others. */
  readonly token: string;
  /** How long to wait for it, in milliseconds. */
  readonly timeoutMs: number;
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
}

/** The lock is held for milliseconds. A holder that nobody can ask (on another machine, or with a reused pid) is given up after this. */
const abandonedMs = 30_000;
const firstPauseMs = 2;
const longestPauseMs = 20;

/**
 * Works while no other process does, and while nothing else in this process does.
 *
 * A lock whose process is dead is broken, under a second lock, so that of two that find it dead none breaks the new one of the
 * other. The work is given `stillHeld`, which fails if the lock was taken away meanwhile (the machine slept).
 *
 * @throws ContinuityError `locked`
 */
export const withLock = async <Result>(options: LockOptions, work: (stillHeld: () => Promise<void>) => Promise<Result>): Promise<Result> => {
  await acquire(options);
  try {
    return await work(async () => {
      if ((await holderOf(options.path))?.token !== options.token) throw lockedBy(options.path, 'it was taken away by another process');
    });
  } finally {
    if ((await holderOf(options.path))?.token === options.token) await rm(options.path, { force: true });
  }
};

const acquire = async (options: LockOptions): Promise<void> => {
  const { path, clock, timeoutMs } = options;
  const giveUpAt = clock() + timeoutMs;
  for (let pauseMs = firstPauseMs; !(await tryCreate(options)); pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    if (await breakIfDead(options)) continue;
    if (clock() >= giveUpAt) throw lockedBy(path, `it is still held after ${timeoutMs} ms`);
    await wait(pauseMs);
  }
};

/** The lock appears with its content, so that nobody takes one that is being made for one that nobody holds. */
const tryCreate = async ({ path, token }: Pick<LockOptions, 'path' | 'token'>): Promise<boolean> => {
  const holder: Holder = { pid: process.pid, host: hostname(), token };
  const prepared = `${path}.${token}`;
  try {
    await writeFile(prepared, JSON.stringify(holder), { mode: 0o600 });
    await link(prepared, path);
    return true;
  } catch (error) {
    if (fileErrorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(prepared, { force: true });
  }
};

/** @returns whether it was broken, so that the next try may succeed */
const breakIfDead = async (options: LockOptions): Promise<boolean> => {
  if (!(await isDead(options))) return false;
  const breaker = { ...options, path: `${options.path}.break` };
  if (!(await tryCreate(breaker))) {
    if (await isDead(breaker)) await rm(breaker.path, { force: true });
    return false;
  }
  try {
    if (!(await isDead(options))) return false;
    await rm(options.path, { force: true });
    return true;
  } finally {
    await rm(breaker.path, { force: true });
  }
};

const isDead = async ({ path, clock }: Pick<LockOptions, 'path' | 'clock'>): Promise<boolean> => {
  const found = await ifThere(stat(path));
  if (found === undefined) return false;
  const holder = await holderOf(path);
  if (holder?.host === hostname() && !isRunning(holder.pid)) return true;
  return clock() - found.mtimeMs > abandonedMs;
};

/** Whose lock it is; nothing where it is not there, or its content is not written yet. */
const holderOf = async (path: string): Promise<Holder | undefined> => {
  const text = await ifThere(readFile(path, 'utf8'));
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Holder);
  } catch {
    return undefined;
  }
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return fileErrorCode(error) !== 'ESRCH';
  }
};

const lockedBy = (path: string, reason: string): ContinuityError =>
  new ContinuityError('locked', `The lock ${path} could not be used: ${reason}. If no agent runs in this project, take the file away.`);
