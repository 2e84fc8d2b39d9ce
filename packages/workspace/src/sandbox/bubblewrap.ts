import { inheritedEnvironment, nonInteractive, type Environment } from '../process/environment.js';
import { freshId } from '../process/machine.js';
import { runProgram } from '../process/run-program.js';
import { runSupervised } from '../process/run-supervised.js';
import { commandIdVariable, supervised } from '../process/supervisor.js';
import { findRoot, sandboxOf, temporaryHome } from './backend.js';
import { bubblewrapArguments } from './bubblewrap-arguments.js';
import type { CheckedOptions } from './options.js';
import type { Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';

/** How long making the first namespace may take. */
const probeMs = 10_000;

/**
 * Commands in namespaces of their own, by `bwrap`: each begins with an empty `/tmp` and an empty home.
 *
 * @throws SandboxError if `bwrap` is missing or this machine does not allow namespaces.
 */
export const bubblewrapSandbox = async (options: CheckedOptions<'bubblewrap'>): Promise<Sandbox> => {
  const root = findRoot(options.root, 'bubblewrap');
  const argvOf = (cwd: string, argv: readonly string[]): readonly [string, ...string[]] => [
    'bwrap',
    ...bubblewrapArguments({ ...options, root, cwd }),
    ...argv,
  ];
  const base: Environment = { ...systemEnvironment(), ...nonInteractive, ...options.environment };
  await probe(argvOf(root, ['/bin/sh', '-c', ':']), base);
  return sandboxOf({
    mode: 'bubblewrap',
    isolates: { files: true, network: !options.network },
    root,
    mountPath: root,
    timeoutMs: options.timeoutMs,
    run: ({ argv, cwd, environment, ...command }) =>
      runSupervised({
        ...command,
        argv: argvOf(cwd, supervised(argv)),
        environment: { ...base, ...environment, [commandIdVariable]: freshId() },
      }),
    dispose: async () => {},
  });
};

/** Of this process's variables only those that still mean something in there. */
const systemEnvironment = (): Environment => {
  const { PATH = '/usr/local/bin:/usr/bin:/bin', LANG, LC_ALL, TZ } = inheritedEnvironment(process.env);
  return {
    PATH,
    HOME: temporaryHome,
    ...(LANG !== undefined && { LANG }),
    ...(LC_ALL !== undefined && { LC_ALL }),
    ...(TZ !== undefined && { TZ }),
  };
};

const probe = async (argv: readonly [string, ...string[]], environment: Environment): Promise<void> => {
  const unavailable = (reason: string, cause?: unknown): SandboxError =>
    new SandboxError('sandbox-unavailable', 'bubblewrap', `bubblewrap does not work here: ${reason}`, { cause });
  const { exitCode, stderr } = await runProgram({ argv, environment, timeoutMs: probeMs }).catch((error: unknown) => {
    throw unavailable(
      'bwrap could not be run; install the package "bubblewrap" (Linux only), or use another mode.',
      error,
    );
  });
  if (exitCode === 0) return;
  throw unavailable(
    `${stderr.trim() || `bwrap ended with ${exitCode}`}. User namespaces may be switched off on this machine.`,
  );
};
