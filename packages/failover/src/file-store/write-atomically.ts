import { open, rename, unlink } from 'node:fs/promises';

/** Writes a file so that there is the old one or the new one and never half of it. To be used under a lock. */
export const writeAtomically = async (path: string, content: string): Promise<void> => {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const handle = await open(temporary, 'w', 0o600);
    try {
      await handle.writeFile(content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
};
