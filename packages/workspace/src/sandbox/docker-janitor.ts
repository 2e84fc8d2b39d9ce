import { spawn } from 'node:child_process';
import type { DockerCli } from './docker-cli.js';

/** A small process that outlives this one and removes what it would leave behind. */
export interface Janitor {
  /** There is nothing left to do. */
  dismiss(): void;
}

/**
 * Waits for a word on its standard input. If there is none because this process is gone, it removes the folder and the
 * containers; several times, because a client may just be creating one.
 */
const script = `
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
 * Starts a janitor, in a process group of its own.
 *
 * @param label The label of the containers, as `name=value`.
 */
export const startJanitor = (cli: DockerCli, folder: string, label: string): Janitor => {
  const child = spawn('/bin/sh', ['-c', script, 'sh', folder, cli.command, label], {
    env: cli.environment,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.on('error', () => {}); // Without /bin/sh there is no janitor; the next sandbox clears up instead.
  child.stdin.on('error', () => {});
  child.unref();
  return { dismiss: () => void child.stdin.end('done\n') };
};
