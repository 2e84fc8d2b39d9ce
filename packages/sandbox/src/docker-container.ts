import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { DockerCli } from './docker-cli.js';
import { readyWord } from './docker-arguments.js';
import { SandboxError } from './sandbox-error.js';

/** A running container for commands. */
export interface Container {
  readonly name: string;
  isRunning(): boolean;
  /**
   * Returns whether the system killed a process of it for lack of memory. With `stop`, it is stopped first, which is
   * reliable.
   */
  ranOutOfMemory(options: { readonly stop: boolean }): Promise<boolean>;
  /** Kills its processes and removes it. */
  remove(): Promise<void>;
}

/** Pulling a large image takes minutes. */
const startMs = 600_000;

const maxMessageChars = 2_000;

/**
 * Starts a container and waits until it is ready for commands.
 *
 * @param args the arguments of `docker`, for a container that prints {@link readyWord} and then lives until its
 * standard input ends
 * @throws SandboxError `sandbox-start` with the message of Docker
 */
export const startContainer = async (cli: DockerCli, name: string, args: readonly string[]): Promise<Container> => {
  const client = spawn(cli.command, args, { env: cli.environment, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  // A client that could not be started has no pipes.
  const stdin = client.stdin as Writable | undefined;
  stdin?.on('error', () => {});
  // The client exits shortly after its container.
  let isOver = false;
  const container: Container = {
    name,
    isRunning: () => !isOver && client.exitCode === null && client.signalCode === null,
    ranOutOfMemory: async ({ stop }) => {
      isOver ||= stop;
      if (stop) await cli.run(['stop', '--time', '0', name]);
      const { stdout } = await cli.run(['inspect', '--format', '{{.State.OOMKilled}}', name]);
      return stdout.toString().trim() === 'true';
    },
    remove: async () => {
      isOver = true;
      stdin?.end();
      const { exitCode, stderr } = await cli.run(['rm', '--force', '--volumes', name]);
      // The cleanup helper may have started to remove it; the daemon then completes the removal.
      if (exitCode === 0 || /No such container|removal of container .* is already in progress/i.test(stderr)) return;
      throw new SandboxError(
        'sandbox-failed',
        'docker',
        `The container ${name} could not be removed: ${stderr.trim()}`,
      );
    },
  };
  try {
    await ready(client);
    client.unref();
    return container;
  } catch (error) {
    await container.remove().catch(() => {}); // The first error is more informative.
    throw error;
  }
};

const ready = (client: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let output = '';
    let messages = '';
    const settle = (): void => clearTimeout(timeout);
    const fail = (reason: string, cause?: unknown): void => {
      settle();
      client.kill('SIGKILL');
      reject(new SandboxError('sandbox-start', 'docker', `The container could not be started: ${reason}`, { cause }));
    };
    const timeout = setTimeout(() => fail(`Docker was not ready after ${startMs} ms.`), startMs);
    client.stdout?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-readyWord.length - 2);
      if (!output.includes(readyWord)) return;
      settle();
      resolve();
    });
    client.stderr?.on('data', (chunk: Buffer) => (messages = (messages + chunk.toString()).slice(-maxMessageChars)));
    client.on('error', (error) =>
      fail(`the docker command could not be started (${error.message}); install it.`, error),
    );
    client.on('close', (code) => fail(messages.trim() || `docker exited with ${String(code)}.`));
  });
