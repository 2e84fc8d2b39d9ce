import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';

const program = fileURLToPath(new URL('../dist/main.js', import.meta.url));

it.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('a start ends with %s while it waits for a database that never answers', async (signal, code) => {
  const database = createServer();
  await once(database.listen(0, '127.0.0.1'), 'listening');
  const url = `postgres://station@127.0.0.1:${(database.address() as AddressInfo).port}/station`;
  const child = spawn(
    process.execPath,
    [program, '--demo', '--port', '0', '--data', temporaryFolder(), '--database-url', url],
    { stdio: 'ignore' },
  );
  onTestFinished(() => {
    child.kill('SIGKILL');
    database.close();
  });
  await once(database, 'connection');
  const begunAt = performance.now();
  child.kill(signal);
  expect(await once(child, 'exit')).toEqual([code, null]);
  expect(performance.now() - begunAt).toBeLessThan(5_000);
});
