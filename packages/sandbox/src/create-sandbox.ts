import { bubblewrapSandbox } from './bubblewrap.js';
import { dockerSandbox } from './docker.js';
import { hostSandbox } from './host.js';
import { checkSandboxOptions, type SandboxOptions } from './options.js';
import type { Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';

/**
 * Creates a sandbox for commands and checks that it works. Close it after use.
 *
 * | | `host` | `bubblewrap` | `docker` | `e2b` |
 * |---|---|---|---|---|
 * | other files of this machine | all | programs, read-only | none | none |
 * | network (default) | as this machine | off | off | off |
 * | limits | time | time | time, memory, processors, processes | time, those of the template |
 *
 * @throws UnsupportedSandboxOptionError for an option that the mode does not support; InvalidOptionError for an invalid
 * option; SandboxError if the mode does not work on this machine
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

/** Loaded on demand: the package is optional. */
const loadE2b = async (): Promise<typeof import('./e2b-machine.js')> => {
  try {
    return await import('./e2b-machine.js');
  } catch (error) {
    throw new SandboxError('sandbox-unavailable', 'e2b', 'The package "e2b" could not be loaded; install it.', {
      cause: error,
    });
  }
};
