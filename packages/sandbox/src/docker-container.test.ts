import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { bundle } from '../test/bundle.js';

it.runIf(process.platform === 'linux')('rejects if the system has no open files left', async () => {
  const folder = temporaryFolder();
  await bundle('docker-container.ts', folder);
  const script = join(folder, 'parent.mjs');
  writeFileSync(
    script,
    `import { openSync } from 'node:fs';
    import { startContainer } from './entry.mjs';
    try { for (;;) openSync('/dev/null'); } catch {}
    const cli = { command: 'docker', environment: {}, run: () => Promise.reject(new Error('unused')) };
    await startContainer(cli, 'name', []).catch(({ code, message }) => console.log(code, message));`,
  );
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    `ulimit -n 100; exec "${process.execPath}" "${script}"`,
  ]);
  expect(stdout).toMatch(/^sandbox-start .*EMFILE/);
});
