import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A new folder that is gone after the test. Its name has what trips up careless quoting. */
export const temporaryFolder = (): string => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `h workspace, 'x':"y" `)));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
