import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { createSandbox, SandboxError, type Sandbox, type SandboxOptions } from '@h/sandbox';
import type { CoderArguments } from './arguments.js';
import { UsageError } from './usage-error.js';

/** The image of `--sandbox docker` where none is named. */
const defaultImage = 'node:24';

/**
 * The sandbox that the command line asks for.
 *
 * @throws UsageError for an option that the mode has no use for
 */
export const sandboxOptions = (root: string, { sandbox: mode, image, network }: CoderArguments): SandboxOptions => {
  if (image !== undefined && mode !== 'docker') throw new UsageError('--image belongs to --sandbox docker.');
  switch (mode) {
    case 'host':
      if (network) {
        throw new UsageError('--network belongs to a sandbox; commands on the host have the network anyway.');
      }
      return { mode, root };
    case 'bubblewrap':
      return { mode, root, network, readOnlyPaths: toolchain(process.execPath, homedir()) };
    case 'docker':
      return { mode, root, network, image: image ?? defaultImage };
  }
};

/** The folder that Node.js is installed in, for sandboxes that show the system's programs only; not a whole home folder. */
export const toolchain = (executable: string, home: string): readonly string[] => {
  const folder = dirname(dirname(executable));
  const isShown = folder === '/usr' || folder.startsWith('/usr/');
  const isTooMuch = folder === '/' || home === folder || home.startsWith(`${folder}/`);
  return isShown || isTooMuch ? [] : [folder];
};

/**
 * Opens the sandbox that the command line asks for.
 *
 * @throws UsageError where it does not work
 */
export const openSandbox = async (root: string, given: CoderArguments): Promise<Sandbox> => {
  try {
    return await createSandbox(sandboxOptions(root, given));
  } catch (error) {
    if (error instanceof SandboxError) {
      throw new UsageError(`--sandbox ${given.sandbox}: ${error.message}`, { cause: error });
    }
    throw error;
  }
};
