import { open, rename, rm, rmdir, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Writes a file so that there is the old one or the new one, and never half of it, whatever happens. */
export const replaceFile = async (path: string, content: string): Promise<void> => {
  // oxlint-disable-next-line h/no-clock -- two writers need names of their own
  const temporary = `${path}.${crypto.randomUUID()}${halfWritten}`;
  try {
    await withFile(temporary, 'wx', async (handle) => {
      await handle.writeFile(content);
      await handle.sync();
    });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
};

const halfWritten = '.new';

/** Whether a file is what a process left that died while it wrote. */
export const isHalfWritten = (name: string): boolean => name.endsWith(halfWritten);

/** Lets no loss of power undo what files a folder has. */
export const syncFolder = async (path: string): Promise<void> => {
  try {
    await withFile(path, 'r', (handle) => handle.sync());
  } catch {
    // Some systems know no such thing, and need none.
  }
};

/** What reading something brings; nothing where it is not there. */
export const ifThere = async <Result>(reading: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** The time by the clock that stamps the files of a folder. */
export const timeIn = async (folder: string): Promise<number> => {
  const path = join(folder, `clock${halfWritten}`);
  await writeFile(path, '', { mode: 0o600 });
  const { mtimeMs } = await stat(path);
  await rm(path, { force: true });
  return mtimeMs;
};

/** How long ago something was changed, in milliseconds. */
export const ageOf = async (path: string, now: number): Promise<number> =>
  now - ((await ifThere(stat(path)))?.mtimeMs ?? now);

export const removeIfEmpty = async (folder: string): Promise<void> => {
  try {
    await rmdir(folder);
  } catch {
    // It holds something, or another process was faster.
  }
};

const withFile = async (path: string, flags: string, use: (handle: FileHandle) => Promise<void>): Promise<void> => {
  const handle = await open(path, flags, 0o600);
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
};
