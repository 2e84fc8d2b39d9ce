import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process, told apart from a later one that has its number. */
export interface Owner {
  /** The machine, and on Linux the space in which process numbers are counted. */
  readonly host: string;
  readonly pid: number;
  /** The boot of the machine and the moment at which the process began, as far as the system tells. */
  readonly since: string;
}

/** A process of this machine. */
export const ownerOf = (pid: number): Owner => ({ host: host(), pid, since: since(pid) });

/** This process. */
export const thisOwner = (): Owner => ownerOf(process.pid);

/** Whether a process lives: `unknown` when it runs elsewhere, or when the system does not tell it from another one. */
export const sightOf = (owner: Owner): 'alive' | 'dead' | 'unknown' => {
  if (owner.host !== host()) return 'unknown';
  if (!exists(owner.pid)) return 'dead';
  if (owner.pid === process.pid && owner.since === since(process.pid)) return 'alive';
  if (owner.since === '') return 'unknown';
  return since(owner.pid) === owner.since ? 'alive' : 'dead';
};

const host = (): string => `${hostname()} ${textOr('', () => readlinkSync('/proc/self/ns/pid'))}`.trimEnd();

/**
 * In `/proc/<pid>/stat` the name of the process, which may hold anything, ends with the last bracket; the 20th word after it is the start.
 * One that has ended and that its parent has not asked about yet is there, but is no more: its state is `Z`.
 */
const since = (pid: number): string =>
  textOr('', () => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...words] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return 'ended';
    const start = words[18] ?? '';
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${start}`;
  });

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const textOr = (otherwise: string, read: () => string): string => {
  try {
    return read();
  } catch {
    return otherwise; // No Linux, or no such process any more.
  }
};
