import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxOptions } from '../src/options.js';
import { bundle } from './bundle.js';

/**
 * Runs a shell line in a sandbox of another process, waits for its first output, and kills that process with SIGKILL.
 *
 * @param folder - contains the program of the other process
 */
export const killHostOf = async (options: SandboxOptions, line: string, folder: string): Promise<void> => {
  await bundle('create-sandbox.ts', folder);
  writeFileSync(
    join(folder, 'host.mjs'),
    `import { createSandbox } from './entry.mjs';
    const [options, line] = process.argv.slice(2);
    const sandbox = await createSandbox(JSON.parse(options));
    await sandbox.run({ argv: ['/bin/sh', '-c', line], onOutput: (chunk) => process.stdout.write(chunk) });`,
  );
  const host = spawn(process.execPath, [join(folder, 'host.mjs'), JSON.stringify(options), line], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(host, 'exit');
  const told = await Promise.race([once(host.stdout, 'data').then(() => true), ended.then(() => false)]);
  if (!told) throw new Error(`The other process exited with ${host.exitCode} before it was killed.`);
  host.kill('SIGKILL');
  await ended;
};
