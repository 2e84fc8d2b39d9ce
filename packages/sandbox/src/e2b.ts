import { e2bSandbox as start } from './e2b-machine.js';
import { checkSandboxOptions, type E2bSandboxOptions } from './options.js';
import type { Sandbox } from './sandbox.js';

export type { E2bSandboxOptions } from './options.js';
export type { CommandEnd, Sandbox, SandboxCommand } from './sandbox.js';

/**
 * Starts a virtual machine of e2b.dev for commands: the same as `createSandbox({ mode: 'e2b', … })`, with a static
 * import of the package `e2b` for bundlers.
 *
 * @throws InvalidOptionError for an invalid option; SandboxError if the machine cannot be started
 */
export const e2bSandbox = async (options: Omit<E2bSandboxOptions, 'mode'>): Promise<Sandbox> =>
  start(checkSandboxOptions<'e2b'>({ ...options, mode: 'e2b' }));
