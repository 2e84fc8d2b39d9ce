import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process, told apart from a later one that gets its number. */
export interface Owner {
  /** The machine, and on Linux the space in which its processes are numbered. */
  readonly host: string;
  readonly pid: number;
  /** The boot of the machine and the start of the process; empty where the system tells neither. */
  readonly since: string;
}

/** A process of this machine. */
export const ownerOf = (pid: number): Owner => ({ host: thisHost(), pid, since: startOf(pid) });

/** Whether a process is at work: `unknown` where it cannot be seen from here, or not be told from a later one. */
export const stateOf = ({ host, pid, since }: Owner): 'alive' | 'dead' | 'unknown' => {
  if (host !== thisHost()) return 'unknown';
  if (!isThere(pid)) return 'dead';
  const now = startOf(pid);
  if (now === since && (since !== '' || pid === process.pid)) return 'alive';
  return since === '' ? 'unknown' : 'dead';
};

const thisHost = (): string => `${hostname()}${told(() => ` ${readlinkSync('/proc/self/ns/pid')}`)}`;

/**
 * Behind the name of the process, which ends with the last bracket and may hold anything, its state comes first and its start is
 * the 20th word. A process that has ended keeps its number until its parent has asked how; its state is `Z` meanwhile.
 */
const startOf = (pid: number): string =>
  told(() => {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const words = line.slice(line.lastIndexOf(')') + 2).split(' ');
    if (words[0] === 'Z' || words[0] === 'X') return 'ended';
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${words[19] ?? ''}`;
  });

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const told = (read: () => string): string => {
  try {
    return read();
  } catch {
    return ''; // Not Linux, or the process has just gone.
  }
};
