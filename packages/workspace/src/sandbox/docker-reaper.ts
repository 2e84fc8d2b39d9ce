import { ownerLabel } from './docker-arguments.js';
import { dockerCli, type DockerCli } from './docker-cli.js';
import { isGone } from './docker-owner.js';

/**
 * Removes the containers of sandboxes whose process is gone: what is left should this process and its helpers be killed
 * all at once, or the machine lose its power. Done whenever a sandbox of the mode `docker` is created.
 *
 * Containers of processes that run, and of other machines, are left alone.
 *
 * @returns the ids of the containers that were removed.
 */
export const reapContainers = async ({
  command = 'docker',
  dockerHost,
}: { readonly command?: string | undefined; readonly dockerHost?: string | undefined } = {}): Promise<
  readonly string[]
> => reap(dockerCli(command, dockerHost));

/** {@link reapContainers}, with a command line that is set up already. */
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
    if (owner === '' || !isGone(owner)) continue;
    const { exitCode } = await cli.run(['rm', '--force', '--volumes', id]);
    if (exitCode === 0) removed.push(id);
  }
  return removed;
};
