import { nonInteractive } from '../process/environment.js';
import { freshId } from '../process/machine.js';
import { runSupervised, type ProcessEnd } from '../process/run-supervised.js';
import { commandIdVariable, supervised } from '../process/supervisor.js';
import { findRoot, sandboxOf, temporaryHome, type PreparedCommand } from './backend.js';
import { containerArguments, sandboxLabel } from './docker-arguments.js';
import { dockerCli, type DockerCli } from './docker-cli.js';
import { startContainer, type Container } from './docker-container.js';
import { startJanitor } from './docker-janitor.js';
import { ownerOf } from './docker-owner.js';
import { reap } from './docker-reaper.js';
import { secretFolder, variableLines, type SecretFolder } from './docker-secrets.js';
import type { CheckedOptions } from './options.js';
import type { CommandEnd, Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';

/**
 * Commands in one container, which lives as long as the sandbox: `/tmp` is kept from one to the next. After it ran out of
 * memory or was killed, the next command gets a new one.
 *
 * The container ends when this process does, however that ends, and a helper process removes it then.
 *
 * @throws SandboxError if Docker does not answer or the container cannot be started.
 */
export const dockerSandbox = async (options: CheckedOptions<'docker'>): Promise<Sandbox> => {
  const root = findRoot(options.root, 'docker');
  const mountPath = options.mountPath ?? root;
  const cli = dockerCli(options.command, options.dockerHost);
  const variables = { HOME: temporaryHome, ...nonInteractive, ...options.environment };
  variableLines(variables); // A value that cannot be passed on is found before anything is started.
  await checkDaemon(cli);
  await reap(cli);

  const id = freshId();
  const secrets = await secretFolder();
  const janitor = startJanitor(cli, secrets.path, `${sandboxLabel}=${id}`);
  const keeper = keepContainer(() =>
    secrets.withVariables(variables, (environmentFile) => {
      const name = `h-sandbox-${freshId()}`;
      const plan = { name, id, owner: ownerOf(process.pid), root, mountPath, environmentFile };
      return startContainer(cli, name, containerArguments(options, plan));
    }),
  );
  const sandbox = sandboxOf({
    mode: 'docker',
    isolates: { files: true, network: options.network === false },
    root,
    mountPath,
    timeoutMs: options.timeoutMs,
    run: commandRunner(cli, secrets, keeper, (cwd) => mountPath + cwd.slice(root.length)),
    dispose: async () => {
      try {
        await keeper.remove();
      } finally {
        await secrets.remove();
      }
      janitor.dismiss();
    },
  });
  try {
    await keeper.get();
    return sandbox;
  } catch (error) {
    await sandbox.close();
    throw error;
  }
};

const checkDaemon = async (cli: DockerCli): Promise<void> => {
  const { exitCode, stderr } = await cli.run(['version', '--format', '{{.Server.Version}}']);
  if (exitCode === 0) return;
  throw new SandboxError('sandbox-unavailable', 'docker', `Docker does not answer: ${stderr.trim()}`);
};

interface ContainerKeeper {
  /** A container that runs: the same as last time, or a new one. */
  get(): Promise<Container>;
  remove(): Promise<void>;
}

const keepContainer = (start: () => Promise<Container>): ContainerKeeper => {
  let current: Promise<Container> | undefined;
  const revive = async (container: Container): Promise<Container> => {
    if (container.isRunning()) return container;
    await container.remove();
    return start();
  };
  return {
    get: () => (current = current === undefined ? start() : current.then(revive, start)),
    remove: async () => (await current?.catch(() => undefined))?.remove(),
  };
};

/** The exit code of what SIGKILL ended. */
const killedCode = 137;

const commandRunner = (
  cli: DockerCli,
  secrets: SecretFolder,
  keeper: ContainerKeeper,
  pathInside: (path: string) => string,
): ((command: PreparedCommand) => Promise<Omit<CommandEnd, 'timeoutMs'>>) => {
  let running = 0;

  const execute = (
    container: Container,
    { argv, cwd, environment, ...command }: PreparedCommand,
  ): Promise<ProcessEnd> => {
    const fixed = ['--interactive', '--workdir', pathInside(cwd), '--env', `${commandIdVariable}=${freshId()}`];
    const runWith = (variables: readonly string[]): Promise<ProcessEnd> =>
      runSupervised({
        ...command,
        argv: [cli.command, 'exec', ...fixed, ...variables, container.name, ...supervised(argv)],
        environment: cli.environment,
        onStuck: () => container.remove(),
      });
    if (Object.keys(environment).length === 0) return runWith([]);
    return secrets.withVariables(environment, (file) => runWith(['--env-file', file]));
  };

  return async (command) => {
    const container = await keeper.get();
    running += 1;
    const end = await execute(container, command).finally(() => (running -= 1));
    if (end.ending !== 'exited' || end.exitCode !== killedCode) return end;
    // Older daemons tell only once the container has ended, which nobody else's command should have to do.
    const outOfMemory = await container.ranOutOfMemory({ stop: running === 0 });
    return outOfMemory ? { ...end, ending: 'out-of-memory' } : end;
  };
};
