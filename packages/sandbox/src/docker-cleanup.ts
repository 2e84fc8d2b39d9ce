import { spawn } from 'node:child_process';
import type { Writable } from 'node:stream';
import { processState, thisProcess, type ProcessMark } from '@h/process';
import { checkOptions, nonEmptyString } from '@h/options';
import { dockerCli, type DockerCli } from './docker-cli.js';

/** The label of a container that identifies the process it belongs to. */
export const ownerLabel = 'h.sandbox.owner';

/** Returns the value of {@link ownerLabel} for this process. */
export const ownerOfThisProcess = (): string => Buffer.from(JSON.stringify(thisProcess())).toString('base64url');

const hasEnded = (owner: string): boolean => {
  try {
    return processState(JSON.parse(Buffer.from(owner, 'base64url').toString()) as ProcessMark) === 'dead';
  } catch {
    return false; // The label was written by another program.
  }
};

/**
 * Removes the containers of sandboxes whose process has ended. They remain if the process and its cleanup helper are
 * killed at the same time, or after a power failure. Creating a sandbox of the mode `docker` does this too.
 *
 * Containers of running processes, and of processes on other machines, are not touched.
 *
 * @returns the ids of the removed containers
 */
export const reapContainers = async (
  options: { readonly command?: string | undefined; readonly dockerHost?: string | undefined } = {},
): Promise<readonly string[]> => {
  checkOptions('reapContainers()', options, { command: nonEmptyString, dockerHost: nonEmptyString });
  const { command = 'docker', dockerHost } = options;
  return reap(dockerCli(command, dockerHost));
};

/** Does the work of {@link reapContainers}. */
export const reap = async (cli: DockerCli): Promise<readonly string[]> => {
  const { stdout } = await cli.run([
    'ps',
    '--all',
    '--no-trunc',
    '--filter',
    `label=${ownerLabel}`,
    '--format',
    `{{.ID}} {{.Label "${ownerLabel}"}}`,
  ]);
  const removed: string[] = [];
  for (const line of stdout.toString().split('\n')) {
    const [id = '', owner = ''] = line.split(' ');
    if (owner === '' || !hasEnded(owner)) continue;
    const { exitCode } = await cli.run(['rm', '--force', '--volumes', id]);
    if (exitCode === 0) removed.push(id);
  }
  return removed;
};

/** A helper process that outlives this one and removes its containers. */
export interface CleanupHelper {
  /** Dismisses the helper, because nothing is left to remove. */
  dismiss(): void;
}

/**
 * Waits for a word on its standard input. If the input ends without one, the parent has ended, and the helper removes
 * the folder and the containers; several times, because a client may still be creating one.
 */
const helperScript = `
read -r word
[ "$word" = done ] && exit 0
rm -rf "$1"
for round in 1 2 3 4 5; do
  ids=$("$2" ps --all --quiet --filter "label=$3")
  [ -z "$ids" ] || "$2" rm --force --volumes $ids
  sleep 1
done
`;

/**
 * Starts a cleanup helper in its own process group.
 *
 * @param label the label of the containers, as `name=value`
 */
export const startCleanupHelper = (cli: DockerCli, folder: string, label: string): CleanupHelper => {
  const child = spawn('/bin/sh', ['-c', helperScript, 'sh', folder, cli.command, label], {
    env: cli.environment,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {}); // Without /bin/sh there is no helper; the next sandbox removes the containers instead.
  // A helper that could not be started has no pipes.
  const stdin = child.stdin as Writable | undefined;
  stdin?.on('error', () => {});
  child.unref();
  return { dismiss: () => void stdin?.end('done\n') };
};
