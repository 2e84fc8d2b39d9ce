import { inheritedEnvironment, nonInteractive } from '../process/environment.js';
import { freshId } from '../process/machine.js';
import { runSupervised } from '../process/run-supervised.js';
import { commandIdVariable, supervised } from '../process/supervisor.js';
import { findRoot, sandboxOf } from './backend.js';
import type { CheckedOptions } from './options.js';
import type { Sandbox } from './sandbox.js';

/**
 * Commands on this machine, as this process's user.
 *
 * They end with this process, even if it is killed; a process that cleared its environment *and* made itself a session of
 * its own is the exception, and on systems without `/proc` one that made itself a session.
 */
export const hostSandbox = (options: CheckedOptions<'host'>): Sandbox => {
  const root = findRoot(options.root, 'host');
  const inherited = inheritedEnvironment(process.env, options.passEnvironment);
  return sandboxOf({
    mode: 'host',
    isolates: { files: false, network: false },
    root,
    mountPath: root,
    timeoutMs: options.timeoutMs,
    run: ({ argv, environment, ...command }) =>
      runSupervised({
        ...command,
        argv: supervised(argv),
        environment: {
          ...inherited,
          ...nonInteractive,
          ...options.environment,
          ...environment,
          [commandIdVariable]: freshId(),
        },
      }),
    dispose: async () => {},
  });
};
