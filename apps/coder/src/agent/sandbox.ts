import { homeFolder } from '@h/process';
import { createSandbox, SandboxError, toolchain, type Sandbox, type SandboxOptions } from '@h/sandbox';
import type { CoderArguments } from '../arguments.js';
import { UsageError } from '../usage-error.js';

/** The default image of `--sandbox docker`. */
const defaultImage = 'node:24';

/**
 * Converts the command line to the options of the sandbox.
 *
 * @throws UsageError for an option that the mode does not support
 */
export const sandboxOptions = (root: string, { sandbox: mode, image, network }: CoderArguments): SandboxOptions => {
  if (image !== undefined && mode !== 'docker') throw new UsageError('--image requires --sandbox docker.');
  switch (mode) {
    case 'host':
      if (network) {
        throw new UsageError('--network requires a sandbox; commands on the host always have the network.');
      }
      return { mode, root };
    case 'bubblewrap':
      return { mode, root, network, readOnlyPaths: toolchain(process.execPath, homeFolder(process.env)) };
    case 'docker':
      return { mode, root, network, image: image ?? defaultImage };
  }
};

/**
 * Opens the sandbox of the command line.
 *
 * @throws UsageError if the sandbox does not work
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
