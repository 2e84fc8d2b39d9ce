/** Runs the live tests, `*.live.test.ts`, against the providers whose keys are set. They run only on request. */
import { spawnSync } from 'node:child_process';

if (process.env['H_LIVE_TEST'] === '1') {
  const { status } = spawnSync(
    'vitest',
    ['run', '--project', '@h/end-to-end', '--reporter=verbose', ...process.argv.slice(2)],
    {
      stdio: 'inherit',
      shell: process.platform === 'win32',
    },
  );
  process.exitCode = status ?? 1;
} else {
  console.log('No live test ran: they call real providers, which costs money. Set H_LIVE_TEST=1 to run them.');
}
