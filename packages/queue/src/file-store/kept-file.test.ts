import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '@h/files';
import { TurnError } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { KeptFile } from './kept-file.js';
import { KeptState } from './kept-state.js';

describe('a file of messages', () => {
  it('neither confirms nor keeps a line that was written after a takeover of the folder', async () => {
    const folder = temporaryFolder();
    let checks = 0;
    const check = async (): Promise<void> => {
      checks += 1;
      if (checks === 5) throw new TurnError('inbox-taken', 'Taken.');
    };
    const path = join(folder, 'inbox.1.jsonl');
    const file = new KeptFile(
      path,
      { check, replaceFile: async (...given) => void (await replaceFile(...given)) },
      new KeptState(),
    );
    await file.create();
    await file.add({ type: 'removed', tag: 'a' });
    await expect(file.add({ type: 'removed', tag: 'b' })).rejects.toMatchObject({ code: 'inbox-taken' });
    await file.close();
    expect(await readFile(path, 'utf8')).toMatch(/^.*"tag":"a".*\n$/);
  });
});
