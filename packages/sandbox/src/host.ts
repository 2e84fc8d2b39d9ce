import { minimalEnvironment, nonInteractive, runProcess } from '@h/process';
import { findRoot, sandboxOf } from './backend.js';
import type { CheckedOptions } from './options.js';
import type { Sandbox } from './sandbox.js';

/**
 * Runs commands on this machine, as the user of this process.
 *
 * They end with this process, even if it is killed. Exceptions: a process that cleared its environment and also started
 * its own session; on systems without `/proc`, any process that started its own session.
 */
export const hostSandbox = (options: CheckedOptions<'host'>): Sandbox => {
  const root = findRoot(options.root, 'host');
  const inherited = minimalEnvironment(process.env, options.passEnvironment);
  return sandboxOf({
    mode: 'host',
    isolates: { files: false, network: false },
    canMountReadOnly: false,
    root,
    mountPath: root,
    timeoutMs: options.timeoutMs,
    run: ({ argv, cwd, environment, timeoutMs, signal, onOutput }) =>
      runProcess({
        command: argv,
        cwd,
        timeoutMs,
        signal,
        onOutput,
        within: (supervised) => supervised,
        environment: {
          ...inherited,
          ...nonInteractive,
          ...options.environment,
          ...environment,
        },
      }),
    dispose: async () => {},
  });
};
