import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process, told apart from a later one that gets its number: what a lock in a file says of its owner. All of it can be stored as JSON. */
export interface ProcessMark {
  /** The name of the machine. */
  readonly host: string;
  /** What tells the machine from others of its name; empty where it has no such thing. */
  readonly machine: string;
  /** The boot of the machine; empty where the system does not tell. */
  readonly boot: string;
  /** The namespaces in which its number and its start mean something: another container is another one. Empty where there are none. */
  readonly namespaces: string;
  readonly pid: number;
  /** When it began, in the system's own count; empty where the system does not tell. */
  readonly start: string;
}

/** The mark of a process of this machine. */
export const markOf = (pid: number): ProcessMark => ({
  host: hostname(),
  machine: told(() => readFileSync('/etc/machine-id', 'utf8').trim()),
  boot: told(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
  // In another time namespace the same process has another start.
  namespaces: ['pid', 'time']
    .map((name) => told(() => readlinkSync(`/proc/self/ns/${name}`)))
    .join(' ')
    .trim(),
  pid,
  start: startOf(pid),
});

/** The mark of the process that asks. */
export const thisProcess = (): ProcessMark => markOf(process.pid);

/**
 * Whether a process is at work: `unknown` where it cannot be seen from here, or not be told from another one with its number.
 * Then only a lease says when it may be taken for dead.
 *
 * A process that has ended is dead also while its parent has not asked how, as in containers without an init.
 *
 * @example
 * ```ts
 * import { processState, thisProcess } from '@h/turn/process';
 *
 * const owner = JSON.stringify(thisProcess()); // into the lock
 * const isFree = processState(JSON.parse(owner)) === 'dead';
 * ```
 */
export const processState = (mark: ProcessMark): 'alive' | 'dead' | 'unknown' => {
  const here = thisProcess();
  if (mark.host !== here.host || mark.machine !== here.machine || mark.namespaces !== here.namespaces) return 'unknown';
  // Without an id of the machine, another boot may as well be that of another machine.
  if (mark.boot !== here.boot) return here.machine === '' ? 'unknown' : 'dead';
  if (!isThere(mark.pid)) return 'dead';
  const start = startOf(mark.pid);
  if (start === mark.start && (start !== '' || mark.pid === here.pid)) return 'alive';
  return start === '' || mark.start === '' ? 'unknown' : 'dead';
};

/**
 * In what Linux says of a process its name ends with the last bracket and may hold anything; behind it comes the state first, and the start as
 * the 20th word. A process that has ended keeps its number until its parent has asked how. Where `/proc` was mounted for another namespace, what
 * it says of a number is said of somebody else.
 */
const startOf = (pid: number): string =>
  told(() => {
    if (readlinkSync('/proc/self') !== `${process.pid}`) return '';
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...words] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? 'ended' : (words[18] ?? '');
  });

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is one, too.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const told = (read: () => string): string => {
  try {
    return read();
  } catch {
    return ''; // No Linux, or the process has just ended.
  }
};
