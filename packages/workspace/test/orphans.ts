import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxOptions } from '../src/sandbox/options.js';
import { bundle } from './bundle.js';

/**
 * Runs a line of shell in a sandbox of another process, waits for its first output, and kills that process with SIGKILL.
 *
 * @param folder Where to put the program of the other process.
 */
export const killHostOf = async (options: SandboxOptions, line: string, folder: string): Promise<void> => {
  await bundle('sandbox/create-sandbox.ts', join(folder, 'sandbox.mjs'));
  writeFileSync(
    join(folder, 'host.mjs'),
    `import { createSandbox } from './sandbox.mjs';
    const [options, line] = process.argv.slice(2);
    const sandbox = await createSandbox(JSON.parse(options));
    await sandbox.run({ argv: ['/bin/sh', '-c', line], onOutput: (chunk) => process.stdout.write(chunk) });`,
  );
  const host = spawn(process.execPath, [join(folder, 'host.mjs'), JSON.stringify(options), line], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(host.stdout, 'data');
  host.kill('SIGKILL');
  await once(host, 'exit');
};
