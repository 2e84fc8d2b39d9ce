import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '@h/files';
import { TurnError } from '@h/turn';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeptFile } from './kept-file.js';
import { KeptState } from './kept-state.js';

const temporaryFolder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'h-inbox-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
};

describe('a file of messages', () => {
  it('confirms no line that was written after a takeover of the folder', async () => {
    const folder = await temporaryFolder();
    let checks = 0;
    const check = async (): Promise<void> => {
      checks += 1;
      if (checks === 4) throw new TurnError('inbox-taken', 'Taken.');
    };
    const file = new KeptFile(
      join(folder, 'inbox.1.jsonl'),
      { check, replaceFile: async (...given) => void (await replaceFile(...given)) },
      new KeptState(),
    );
    await file.create();
    await file.add({ type: 'removed', tag: 'a' });
    await expect(file.add({ type: 'removed', tag: 'b' })).rejects.toMatchObject({ code: 'inbox-taken' });
    await file.close();
  });
});
