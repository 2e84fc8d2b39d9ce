import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('leaves the exit code of a test run alone', () => {
  const module = JSON.stringify(new URL('embedded-server.js', import.meta.url).href);
  const script = `
    const { startServer } = await import(${module});
    const server = await startServer();
    await server.stop();
    process.exitCode = 3;
  `;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
});
