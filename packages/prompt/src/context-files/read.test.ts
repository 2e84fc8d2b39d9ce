import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readInside } from './read.js';

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

it.skipIf(process.platform !== 'linux')('never reads outside while the folder is swapped for a link', async () => {
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
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(base, { recursive: true, force: true });
  });
  await once(child.stdout, 'data');
  const seen = new Map<string, number>();
  for (let round = 0; round < 3_000; round += 1) {
    const text = await readInside(join(folder, 'file.md'), root, 1_000, undefined).then(({ result }) =>
      result.ok ? result.text : 'refused',
    );
    seen.set(text, (seen.get(text) ?? 0) + 1);
  }
  expect(seen.get('outside') ?? 0).toBe(0);
  expect(seen.get('inside') ?? 0).toBeGreaterThan(0);
});
