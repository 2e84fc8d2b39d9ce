import { dirname } from 'node:path';
import { ensureFolder, withLock } from '@h/files';

/** Longer than any process needs for a change. */
const waitMs = 30_000;

/**
 * Changes a JSON file while no other process does.
 *
 * @param change - reads the file and returns its new content; `undefined` leaves it as it is
 */
export const changeFile = async (path: string, change: () => Promise<object | undefined>): Promise<void> => {
  await ensureFolder(dirname(path));
  await withLock(`${path}.lock`, { waitMs }, async (lock) => {
    const content = await change();
    if (content) await lock.replaceFile(path, `${JSON.stringify(content, undefined, 2)}\n`);
  });
};
