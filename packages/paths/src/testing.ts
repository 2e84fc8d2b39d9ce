import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Swaps a folder for a link to another one and back until it is killed, and pauses after every 10th time. */
const swapper = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
const [folder, outside] = process.argv.slice(1);
console.log('ready');
const cell = new Int32Array(new SharedArrayBuffer(4));
for (let round = 1; ; round += 1) {
  renameSync(folder, folder + '.real');
  symlinkSync(outside, folder);
  unlinkSync(folder);
  renameSync(folder + '.real', folder);
  if (round % 10 === 0) Atomics.wait(cell, 0, 0, 10);
}`;

/** How often {@link readWhileSwapped} read which file. */
export interface SwappedReads {
  readonly inside: number;
  readonly outside: number;
  readonly refused: number;
}

/**
 * Reads a file repeatedly while another process swaps its folder for a link to a folder outside of the root.
 *
 * Windows needs a privilege for links.
 *
 * @param read - reads `file`, which must stay below `root`; a rejection counts as refused
 *
 * @example
 * ```ts
 * const { outside } = await readWhileSwapped((file, root) => readText(file, root));
 * expect(outside).toBe(0);
 * ```
 */
export const readWhileSwapped = async (
  read: (file: string, root: string) => Promise<string>,
  rounds = 3000,
): Promise<SwappedReads> => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'h-race-')));
  const [root, outside] = [join(base, 'root'), join(base, 'outside')];
  const folder = join(root, 'folder');
  for (const [path, text] of [
    [folder, 'inside'],
    [outside, 'outside'],
  ] as const) {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'file.md'), text);
  }
  const child = spawn(process.execPath, ['-e', swapper, folder, outside], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const reads = { inside: 0, outside: 0, refused: 0 };
  try {
    await once(child.stdout, 'data');
    for (let round = 0; round < rounds; round += 1) {
      const text = await read(join(folder, 'file.md'), root).catch(() => 'refused');
      reads[text === 'inside' || text === 'outside' ? text : 'refused'] += 1;
    }
    return reads;
  } finally {
    child.kill('SIGKILL');
    await ended;
    rmSync(base, { recursive: true, force: true });
  }
};
