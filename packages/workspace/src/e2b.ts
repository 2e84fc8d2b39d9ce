import { e2bSandbox as start } from './sandbox/e2b.js';
import { checkSandboxOptions, type E2bSandboxOptions } from './sandbox/options.js';
import type { Sandbox } from './sandbox/sandbox.js';

export type { E2bSandboxOptions } from './sandbox/options.js';
export type { CommandEnd, Sandbox, SandboxCommand } from './sandbox/sandbox.js';

/**
 * Starts a virtual machine of e2b.dev for commands: the same as `createSandbox({ mode: 'e2b', … })`, for bundlers that have
 * to see the package `e2b`.
 *
 * @throws WorkspaceOptionsError for a wrong option; SandboxError if the machine cannot be started.
 */
export const e2bSandbox = async (options: Omit<E2bSandboxOptions, 'mode'>): Promise<Sandbox> => {
  const checked = checkSandboxOptions({ ...options, mode: 'e2b' });
  if (checked.mode !== 'e2b') throw new TypeError(`Expected the mode "e2b", not ${JSON.stringify(checked.mode)}.`);
  return start(checked);
};
