import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder for the length of a test. */
export const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'h-sessions-'));
  // Sessions of cancelled turns may still be closing.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
};

/** The sessions as they would be found if the process had died at this moment. */
export const asIfKilled = async (directory: string): Promise<string> => {
  const copy = await temporaryFolder();
  await cp(directory, copy, { recursive: true });
  for (const session of await readdir(copy)) {
    for (const name of await readdir(join(copy, session))) {
      if (name.startsWith('lock.')) await rm(join(copy, session, name), { recursive: true });
    }
  }
  return copy;
};
