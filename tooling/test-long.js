/** Runs the long tests, `*.long.test.ts`. Arguments are passed to vitest. */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync('vitest', ['run', ...process.argv.slice(2)], {
  stdio: 'inherit',
  shell: process.platform === 'win32',
  env: { ...process.env, TEST_LONG: '1' },
});
process.exitCode = status ?? 1;
