import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const createFolder = (name: string): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), name)));
  // Processes and sessions of a cancelled turn may still be writing.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
};

/** Creates an empty folder that is removed after the test. */
export const temporaryFolder = (): string => createFolder('h-test-');

/** Creates an empty folder whose name needs quoting, and removes it after the test. */
export const oddlyNamedFolder = (): string => createFolder(`h test, 'x':"y" `);
