import { spawn, type ChildProcess } from 'node:child_process';
import type { DockerCli } from './docker-cli.js';
import { readyWord } from './docker-arguments.js';
import { SandboxError } from './sandbox-error.js';

/** A container that commands can be run in. */
export interface Container {
  readonly name: string;
  isRunning(): boolean;
  /** Whether the system killed something in it for want of memory. With `stop`, it is asked after its end, which is sure. */
  ranOutOfMemory(options: { readonly stop: boolean }): Promise<boolean>;
  /** Ends all that runs in it, however it is, and it. */
  remove(): Promise<void>;
}

/** Pulling a large image takes minutes. */
const startMs = 600_000;

const maxMessageChars = 2_000;

/**
 * Starts a container and waits until commands can be run in it.
 *
 * @param args The arguments of `docker`, which make a container that says {@link readyWord} and then lives as long as its
 * standard input is open.
 * @throws SandboxError `sandbox-start` with what Docker says.
 */
export const startContainer = async (cli: DockerCli, name: string, args: readonly string[]): Promise<Container> => {
  const client = spawn(cli.command, args, { env: cli.environment, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  client.stdin.on('error', () => {});
  // The client learns a moment later that its container has ended.
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
      client.stdin.end();
      const { exitCode, stderr } = await cli.run(['rm', '--force', '--volumes', name]);
      if (exitCode === 0 || /No such container/i.test(stderr)) return;
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
    await container.remove().catch(() => {}); // Why it did not start says more.
    throw error;
  }
};

const ready = (client: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = '';
    let messages = '';
    const settle = (): void => clearTimeout(timeout);
    const fail = (reason: string, cause?: unknown): void => {
      settle();
      client.kill('SIGKILL');
      reject(new SandboxError('sandbox-start', 'docker', `The container could not be started: ${reason}`, { cause }));
    };
    const timeout = setTimeout(() => fail(`Docker was not ready after ${startMs} ms.`), startMs);
    client.stdout?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-readyWord.length - 2);
      if (!said.includes(readyWord)) return;
      settle();
      resolve();
    });
    client.stderr?.on('data', (chunk: Buffer) => (messages = (messages + chunk.toString()).slice(-maxMessageChars)));
    client.on('error', (error) => fail('the docker command could not be run; is it installed?', error));
    client.on('close', (code) => fail(messages.trim() || `docker ended with ${String(code)}.`));
  });
