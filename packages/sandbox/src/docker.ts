import { randomUUID } from 'node:crypto'; // oxlint-disable-line h/no-clock -- names of containers must be unique; no decision depends on them
import { nonInteractive, runProcess, type ProcessEnd } from '@h/process';
import { findRoot, sandboxOf, temporaryHome, type PreparedCommand } from './backend.js';
import { containerArguments, sandboxLabel } from './docker-arguments.js';
import { dockerCli, type DockerCli } from './docker-cli.js';
import { startContainer, type Container } from './docker-container.js';
import { ownerOfThisProcess, reap, startCleanupHelper } from './docker-cleanup.js';
import { secretFolder, variableLines, type SecretFolder } from './docker-secrets.js';
import type { CheckedOptions } from './options.js';
import type { CommandEnd, Sandbox } from './sandbox.js';
import { SandboxError } from './sandbox-error.js';

/**
 * Runs commands in one container that lives as long as the sandbox, so `/tmp` persists between commands. After the
 * container ran out of memory or was killed, the next command starts a new one. Commands with `readOnly` run in a
 * second container, which is started when it is first needed.
 *
 * The containers end with this process, even if it is killed, and a helper process then removes them.
 *
 * @throws SandboxError if Docker does not respond or the container cannot be started
 */
export const dockerSandbox = async (options: CheckedOptions<'docker'>): Promise<Sandbox> => {
  const root = findRoot(options.root, 'docker');
  const mountPath = options.mountPath ?? root;
  const cli = dockerCli(options.command, options.dockerHost);
  const variables = { HOME: temporaryHome, ...nonInteractive, ...options.environment };
  variableLines(variables); // Refuses a value that cannot be passed on before anything is started.
  await checkDaemon(cli);
  await reap(cli);

  const id = randomUUID();
  const secrets = await secretFolder();
  const helper = startCleanupHelper(cli, secrets.path, `${sandboxLabel}=${id}`);
  const containerFor = (readOnly: boolean): ContainerKeeper =>
    keepContainer(() =>
      secrets.withVariables(variables, (environmentFile) => {
        const name = `h-sandbox-${randomUUID()}`;
        const plan = { name, id, owner: ownerOfThisProcess(), root, mountPath, readOnly, environmentFile };
        return startContainer(cli, name, containerArguments(options, plan));
      }),
    );
  const keeper = containerFor(options.readOnly);
  const readOnlyKeeper = options.readOnly ? keeper : containerFor(true);
  const pathInside = (cwd: string): string => mountPath + cwd.slice(root.length);
  const run = commandRunner(cli, secrets, keeper, pathInside);
  const runReadOnly = commandRunner(cli, secrets, readOnlyKeeper, pathInside);
  const sandbox = sandboxOf({
    mode: 'docker',
    isolates: { files: true, network: options.network === false },
    canMountReadOnly: true,
    root,
    mountPath,
    timeoutMs: options.timeoutMs,
    run: (command) => (command.readOnly ? runReadOnly : run)(command),
    dispose: async () => {
      try {
        await Promise.all([keeper.remove(), readOnlyKeeper.remove()]);
      } finally {
        await secrets.remove();
      }
      helper.dismiss();
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
  throw new SandboxError('sandbox-unavailable', 'docker', `Docker does not respond: ${stderr.trim()}`);
};

interface ContainerKeeper {
  /** Returns a running container: the previous one, or a new one. */
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

/** The exit code of a process that SIGKILL ended. */
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
    { argv, cwd, environment, timeoutMs, signal, onOutput }: PreparedCommand,
  ): Promise<ProcessEnd> => {
    const fixed = ['--interactive', '--workdir', pathInside(cwd)];
    const runWith = (variables: readonly string[]): Promise<ProcessEnd> =>
      runProcess({
        command: argv,
        timeoutMs,
        signal,
        onOutput,
        within: (supervised) => [cli.command, 'exec', ...fixed, ...variables, container.name, ...supervised],
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
    // Older daemons report it only after the container has ended, so the container is stopped if no other command runs
    // in it.
    const outOfMemory = await container.ranOutOfMemory({ stop: running === 0 });
    return outOfMemory ? { ...end, ending: 'out-of-memory' } : end;
  };
};
