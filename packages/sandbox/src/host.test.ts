import { expect, it, onTestFinished, vi } from 'vitest';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';
import { killHostOf } from '../test/orphans.js';
import { uniqueSeconds, waitUntilGone } from '@h/process/testing';
import { describeSandbox, runShell } from '../test/sandbox-suite.js';
import { createSandbox } from './create-sandbox.js';

describeSandbox('host', (options) => createSandbox({ mode: 'host', ...options }));

it.runIf(process.platform === 'linux')('ends background processes that started their own session', async () => {
  const sandbox = await createSandbox({ mode: 'host', root: oddlyNamedFolder() });
  onTestFinished(() => sandbox.close());
  const seconds = uniqueSeconds();
  await runShell(sandbox, `setsid sleep ${seconds} >/dev/null 2>&1 & sleep 0.2`);
  await waitUntilGone(`sleep ${seconds}`);
  await runShell(sandbox, `setsid sleep ${seconds} & sleep 60`, { timeoutMs: 300 });
  await waitUntilGone(`sleep ${seconds}`);
});

it('refuses a read-only workspace, and ends its commands before close() resolves', async () => {
  const sandbox = await createSandbox({ mode: 'host', root: oddlyNamedFolder() });
  await expect(sandbox.run({ argv: ['true'], readOnly: true })).rejects.toHaveProperty('code', 'sandbox-read-only');
  let ending: string | undefined;
  void runShell(sandbox, 'sleep 60').then((end) => (ending = end.ending));
  await sandbox.close();
  expect(ending).toBe('aborted');
});

it('passes the named variables of this process', async () => {
  vi.stubEnv('MY_TOOLCHAIN', '/opt/tools');
  onTestFinished(() => void vi.unstubAllEnvs());
  const sandbox = await createSandbox({ mode: 'host', root: oddlyNamedFolder(), passEnvironment: ['MY_TOOLCHAIN'] });
  onTestFinished(() => sandbox.close());
  expect(await runShell(sandbox, 'echo $MY_TOOLCHAIN')).toMatchObject({ output: '/opt/tools\n' });
});

it('ends its commands when this process is killed', async () => {
  const folder = oddlyNamedFolder();
  const seconds = uniqueSeconds();
  await killHostOf({ mode: 'host', root: folder }, `sleep ${seconds} & echo ready; sleep ${seconds}`, folder);
  await waitUntilGone(`sleep ${seconds}`);
});

it('ends a program whose supervisor was killed', async () => {
  const sandbox = await createSandbox({ mode: 'host', root: oddlyNamedFolder() });
  onTestFinished(() => sandbox.close());
  const seconds = uniqueSeconds();
  const end = await runShell(sandbox, `sleep ${seconds} & kill -9 $PPID; sleep ${seconds}`);
  expect(end).toMatchObject({ ending: 'exited', signal: 'SIGKILL' });
  await waitUntilGone(`sleep ${seconds}`);
});
