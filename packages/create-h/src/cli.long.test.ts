import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));

/** Sends a signal to the process when it creates its first folder. */
const interrupting = (signal: string): string =>
  `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const { mkdir } = fs;
    fs.mkdir = async (...args) => {
      const alive = setInterval(() => undefined, 1_000);
      process.kill(process.pid, '${signal}');
      await new Promise((resolve) => process.once('${signal}', resolve));
      clearInterval(alive);
      return mkdir(...args);
    };
    syncBuiltinESMExports();
  `)}`;

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])(
  'ends by the signal that interrupts it, and leaves no file: %s',
  async (signal) => {
    const cwd = await mkdtemp(join(tmpdir(), 'create-h-'));
    onTestFinished(() => rm(cwd, { recursive: true, force: true }));
    const created = promisify(execFile)(process.execPath, ['--import', interrupting(signal), cli, 'a'], { cwd });
    await expect(created).rejects.toMatchObject({ signal, code: null, stdout: '', stderr: '' });
    expect(await readdir(cwd)).toEqual([]);
  },
);

it.each([[[]], [['']], [['--force']], [['a', 'b']]])('shows its usage for the arguments %j', async (words) => {
  await expect(promisify(execFile)(process.execPath, [cli, ...words])).rejects.toMatchObject({
    code: 2,
    stderr: 'Usage: npm create h <folder>\n',
  });
});

it.each([
  ['--help', 0],
  ['--force', 2],
  ['a', 0],
])('ends with its exit code if nothing reads what it prints: %s', async (word, code) => {
  const cwd = await mkdtemp(join(tmpdir(), 'create-h-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const created = spawn(process.execPath, [cli, word], { cwd });
  created.stdout.destroy();
  created.stderr.destroy();
  expect(await once(created, 'exit')).toEqual([code, null]);
});

it.runIf(process.platform === 'linux')('fails if its output cannot be written', async () => {
  const full = await open('/dev/full', 'w');
  onTestFinished(() => full.close());
  const created = spawn(process.execPath, [cli, '--help'], { stdio: ['ignore', full.fd, 'ignore'] });
  expect(await once(created, 'exit')).toEqual([1, null]);
});
