import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a folder that is deleted after the test. */
export const temporaryFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'h-sessions-'));
  // Sessions of cancelled turns may still be closing.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
};

/** Copies the sessions as a crash at this moment would leave them. */
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
