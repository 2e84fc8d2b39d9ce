import { cp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';

/** Copies the sessions as a crash at this moment would leave them. */
export const asIfKilled = async (directory: string): Promise<string> => {
  const copy = temporaryFolder();
  await cp(directory, copy, { recursive: true });
  for (const session of await readdir(copy)) {
    for (const name of await readdir(join(copy, session))) {
      if (name.startsWith('lock.')) await rm(join(copy, session, name), { recursive: true });
    }
  }
  return copy;
};
