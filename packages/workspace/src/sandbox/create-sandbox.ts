import { bubblewrapSandbox } from './bubblewrap.js';
import { dockerSandbox } from './docker.js';
import { hostSandbox } from './host.js';
import { checkSandboxOptions, type SandboxOptions } from './options.js';
import type { Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';

/**
 * Makes a place for commands to run in, and checks that it works. Close it when you are done.
 *
 * | | `host` | `bubblewrap` | `docker` | `e2b` |
 * |---|---|---|---|---|
 * | other files of this machine | all | programs, read-only | none | none |
 * | network (default) | as this machine | off | off | off |
 * | limits | time | time | time, memory, processors, processes | time, those of the template |
 *
 * @throws UnsupportedSandboxOptionError for what a mode cannot do; WorkspaceOptionsError for a wrong option; SandboxError if
 * the mode does not work on this machine.
 *
 * @example
 * ```ts
 * const sandbox = await createSandbox({ mode: 'docker', root: '/home/me/project', image: 'node:24', memory: '2g' });
 * await sandbox.run({ argv: ['npm', 'test'], onOutput: (chunk) => process.stdout.write(chunk) });
 * await sandbox.close();
 * ```
 */
export const createSandbox = async (options: SandboxOptions): Promise<Sandbox> => {
  const checked = checkSandboxOptions(options);
  switch (checked.mode) {
    case 'host':
      return hostSandbox(checked);
    case 'bubblewrap':
      return bubblewrapSandbox(checked);
    case 'docker':
      return dockerSandbox(checked);
    case 'e2b':
      return (await loadE2b()).e2bSandbox(checked);
  }
};

/** Loaded only where it is wanted: most users do not have the package. */
const loadE2b = async (): Promise<typeof import('./e2b.js')> => {
  try {
    return await import('./e2b.js');
  } catch (error) {
    throw new SandboxError(
      'sandbox-unavailable',
      'e2b',
      'The package "e2b" could not be loaded; add it to your project.',
      { cause: error },
    );
  }
};
