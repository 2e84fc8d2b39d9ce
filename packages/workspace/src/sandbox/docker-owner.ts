import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Who holds a container: this process, told apart from a later one that gets the same number.
 *
 * Written as `host/boot/pid/start`; where the system does not tell the boot or the start, they are empty.
 */
export const ownerOf = (pid: number): string => [hostname(), bootId(), pid, startOf(pid)].join('/');

/** Whether this owner is known to be gone. One on another machine is not known to be. */
export const isGone = (owner: string): boolean => {
  const [host, boot, pid, start] = owner.split('/');
  if (host !== hostname() || pid === undefined) return false;
  if (boot !== bootId()) return true;
  return !isAlive(Number(pid)) || startOf(Number(pid)) !== start;
};

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const bootId = (): string => readIfThere('/proc/sys/kernel/random/boot_id').trim();

/** When a process began, in ticks since the boot: the 22nd field, counted after the name, which may hold spaces. */
const startOf = (pid: number): string => {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
};

const readIfThere = (path: string): string => {
  try {
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  } catch {
    return ''; // The process ended in between.
  }
};
