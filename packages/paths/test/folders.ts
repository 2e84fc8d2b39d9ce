import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a folder that is removed after the test. Its name contains characters that need quoting. */
export const temporaryFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `h workspace, 'x':"y" `)));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
