import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { processState, thisProcess } from '@h/process';
import { ifExists } from './open-file.js';

/** Temporary files of a process that cannot be checked are removed after this time; no write takes a day. */
const abandonedMs = 86_400_000;

/**
 * Removes temporary files that `replaceFile()` and `acquireLock()` left in a folder when their process was killed.
 *
 * Files of a living process are kept. Files of another machine or container are removed when they are a day old.
 */
export const sweepTemporaryFiles = async (folder: string): Promise<void> =>
  sweepTemporary(folder, (await ifExists(readdir(folder))) ?? []);

/** The same for the names in a folder. */
export const sweepTemporary = async (folder: string, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    const path = join(folder, name);
    if (isTemporaryFile(name) && (await isAbandoned(path, name))) await rm(path, { recursive: true, force: true });
  }
};

/** Returns whether a name is that of a temporary file of this package. */
export const isTemporaryFile = (name: string): boolean => temporaryPattern.test(name);

const temporaryPattern = /^\.tmp-([0-9a-f]{12})-([0-9a-f]{12})-(\d+)-([^-]*)-[0-9a-f-]{36}$/;

/** A new name that identifies this process, so that a sweep can tell whether it is alive. */
export const temporaryName = (): string => {
  const { place, boot, pid, start } = hashedMark();
  // oxlint-disable-next-line h/no-clock -- two writers of one process need different names
  return `.tmp-${place}-${boot}-${pid}-${start}-${crypto.randomUUID()}`;
};

const isAbandoned = async (path: string, name: string): Promise<boolean> => {
  const state = stateOfWriter(name);
  if (state !== 'unknown') return state === 'dead';
  const stats = await ifExists(stat(path));
  // oxlint-disable-next-line h/no-clock -- compared with the age of a file, with a day to spare
  return stats !== undefined && Date.now() - stats.mtimeMs > abandonedMs;
};

const stateOfWriter = (name: string): ReturnType<typeof processState> => {
  const [, place, boot, pid, start = ''] = temporaryPattern.exec(name) ?? [];
  const mark = thisProcess();
  const here = hashedMark(mark);
  if (place !== here.place) return 'unknown';
  return processState({ ...mark, boot: boot === here.boot ? mark.boot : 'another boot', pid: Number(pid), start });
};

const hashedMark = ({ host, machine, namespaces, boot, pid, start } = thisProcess()) => ({
  place: hashOf(host, machine, namespaces),
  boot: hashOf(boot),
  pid,
  start,
});

const hashOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12);
