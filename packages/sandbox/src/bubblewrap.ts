import { captureProcess, minimalEnvironment, nonInteractive, runProcess, type Environment } from '@h/process';
import { findRoot, sandboxOf } from './backend.js';
import { bubblewrapArguments, homeBeside } from './bubblewrap-arguments.js';
import type { CheckedOptions } from './options.js';
import { createPrivateDevices } from './private-devices.js';
import type { Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';

/** How long the first namespace may take. */
const probeMs = 10_000;

/**
 * Runs each command in separate namespaces, by `bwrap`, with an empty `/tmp` and an empty home folder.
 *
 * @throws SandboxError if `bwrap` is missing or this machine does not permit namespaces
 */
export const bubblewrapSandbox = async (options: CheckedOptions<'bubblewrap'>): Promise<Sandbox> => {
  const root = findRoot(options.root, 'bubblewrap');
  if (/^\/(?:dev|(?:proc|sys)(?:\/.*)?)?$/s.test(root)) {
    const message = `The root ${JSON.stringify(root)} would give commands access to the whole system; choose a folder of a project.`;
    throw new SandboxError('sandbox-start', 'bubblewrap', message);
  }
  const devices = await createPrivateDevices();
  const deviceMounts = devices?.mounts ?? [];
  const argvOf = (
    cwd: string,
    argv: readonly string[],
    readOnly = options.readOnly,
  ): readonly [string, ...string[]] => [
    'bwrap',
    ...bubblewrapArguments({ ...options, root, cwd, readOnly, deviceMounts }),
    ...argv,
  ];
  const base: Environment = {
    ...systemEnvironment(),
    HOME: homeBeside(root),
    ...nonInteractive,
    ...options.environment,
  };
  try {
    await probe(argvOf(root, ['/bin/sh', '-c', ': >/dev/null']), base);
  } catch (error) {
    await devices?.remove();
    throw error;
  }
  return sandboxOf({
    mode: 'bubblewrap',
    isolates: { files: true, network: !options.network },
    canMountReadOnly: true,
    root,
    mountPath: root,
    timeoutMs: options.timeoutMs,
    run: ({ argv, cwd, environment, readOnly, ...command }) =>
      runProcess({
        ...command,
        command: argv,
        within: (supervised) => argvOf(cwd, supervised, readOnly || options.readOnly),
        environment: { ...base, ...environment },
      }),
    dispose: async () => devices?.remove(),
  });
};

/** The variables of this process that have a meaning inside. */
const systemEnvironment = (): Environment => {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', LANG, LC_ALL, TZ } = minimalEnvironment(process.env);
  return {
    PATH,
    ...(LANG !== undefined && { LANG }),
    ...(LC_ALL !== undefined && { LC_ALL }),
    ...(TZ !== undefined && { TZ }),
  };
};

const probe = async (command: readonly [string, ...string[]], environment: Environment): Promise<void> => {
  const unavailable = (reason: string, cause?: unknown): SandboxError =>
    new SandboxError('sandbox-unavailable', 'bubblewrap', `bubblewrap does not work on this machine: ${reason}`, {
      cause,
    });
  const { exitCode, stderr } = await captureProcess({ command, environment, timeoutMs: probeMs }).catch(
    (error: unknown) => {
      throw unavailable(
        'bwrap could not be started; install the package "bubblewrap" (Linux only), or use another mode.',
        error,
      );
    },
  );
  if (exitCode === 0) return;
  throw unavailable(`${stderr.trim() || `bwrap exited with ${exitCode}`}. User namespaces may be disabled.`);
};
