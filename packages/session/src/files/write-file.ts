import { constants } from 'node:fs';
import { copyFile, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SessionLock } from '../lock/session-lock.js';

/** How a file is replaced. */
export interface Replacement {
  readonly isSynced: boolean;
  /** Asked when the new file is complete, at the last moment: it takes the place of the old one unless this fails. */
  readonly lock: Pick<SessionLock, 'generation' | 'verify'>;
}

/** Writes a file of lines so that there is the old one or the new one and never half of it. Only the holder of the session may. */
export const replaceFile = (path: string, lines: Iterable<string>, { isSynced, lock }: Replacement): Promise<void> =>
  replaceBy(path, { isSynced, lock }, (temporary) =>
    withFile(temporary, 'wx', async (handle) => {
      for (const piece of inPieces(lines)) await handle.appendFile(piece);
      if (isSynced) await handle.sync();
    }),
  );

/** Puts a copy in the place of a file: who has the old one open writes to what nobody reads any more. */
export const replaceByCopy = (path: string, lock: Replacement['lock']): Promise<void> =>
  replaceBy(path, { isSynced: true, lock }, async (temporary) => {
    await copyFile(path, temporary);
    await withFile(temporary, 'r+', (handle) => handle.sync());
  });

/**
 * Between the last look at the lock and the renaming a process may sleep over its lease, and there is no renaming that fails
 * when somebody else was faster. So the new file itself is the right to put it there: whoever takes the session over removes
 * it first, see {@link removeLeftOvers}, and who wakes up then has nothing to rename.
 */
const replaceBy = async (
  path: string,
  { isSynced, lock }: Replacement,
  write: (temporary: string) => Promise<void>,
): Promise<void> => {
  // oxlint-disable-next-line h/no-clock -- a writer that is only slow may still be at its own
  const temporary = `${path}.${lock.generation}.${crypto.randomUUID()}.new`;
  try {
    await write(temporary);
    await lock.verify();
    await rename(temporary, path);
    if (isSynced) await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    // That the session was taken over says more than that a file is gone.
    await lock.verify();
    throw error;
  }
};

/**
 * Removes what earlier holders were about to put in the place of a file: they have died, or sleep and must not any more. Its own
 * holder removes nothing of those after it, however late it comes here.
 */
export const removeLeftOvers = async (folder: string, generation: number): Promise<void> => {
  for (const name of await readdir(folder)) {
    if (generationIn(name) < generation) await rm(join(folder, name), { force: true });
  }
};

/** Which holder has made a file that was not in its place yet; of another file it is nobody who ever was. */
const generationIn = (name: string): number =>
  name.endsWith('.new') ? Number(/\.(\d+)\.[^.]*\.new$/.exec(name)?.[1] ?? 0) : Infinity;

const maxPiece = 1 << 24;

/** Lines as a few texts, each with its newline: a text has a greatest length, and is in memory twice while it is written. */
export function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece: string[] = [];
  let length = 0;
  for (const line of lines) {
    piece.push(line);
    length += line.length;
    if (length < maxPiece) continue;
    yield `${piece.join('\n')}\n`;
    piece = [];
    length = 0;
  }
  if (piece.length > 0) yield `${piece.join('\n')}\n`;
}

/** Makes sure that a loss of power does not undo what files a folder has. Some systems do that by themselves and refuse. */
export const syncFolder = async (path: string): Promise<void> => {
  try {
    await withFile(path, 'r', (handle) => handle.sync());
  } catch {
    // Windows has no such thing.
  }
};

const maxBackups = 10_000;

/** Copies a file to a name that nobody has used, and hands that back once the copy is safe. */
export const backUp = (path: string, reason: string): Promise<string> =>
  toNewName(path, reason, (backup) => copyFile(path, backup, constants.COPYFILE_EXCL));

/** Keeps a piece that is about to be taken out of a file. */
export const keepPiece = (path: string, reason: string, piece: Uint8Array): Promise<string> =>
  toNewName(path, reason, (backup) => withFile(backup, 'wx', (handle) => handle.writeFile(piece)));

const toNewName = async (path: string, reason: string, write: (backup: string) => Promise<void>): Promise<string> => {
  for (let number = 1; number < maxBackups; number += 1) {
    const backup = `${path}.${reason}-${number}`;
    try {
      await write(backup);
      await withFile(backup, 'r+', (handle) => handle.sync());
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`There are ${maxBackups} backups of ${path} already; look into what breaks it.`);
};

const withFile = async (path: string, flags: string, use: (handle: FileHandle) => Promise<void>): Promise<void> => {
  const handle = await open(path, flags, 0o600);
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
};
