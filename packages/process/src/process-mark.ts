import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Identifies a process, even after its pid was reused. Survives JSON, so that a lock file can store its owner. */
export interface ProcessMark {
  /** The host name. */
  readonly host: string;
  /** The id of the machine; empty if the system has none. */
  readonly machine: string;
  /** The id of the boot; empty if the system has none. */
  readonly boot: string;
  /** The pid and time namespaces, which differ between containers; empty if the system has none. */
  readonly namespaces: string;
  readonly pid: number;
  /** The start time in clock ticks of the system; empty if the system does not report it. */
  readonly start: string;
}

/** Returns the mark of a process on this machine. */
export const markOf = (pid: number): ProcessMark => ({
  host: hostname(),
  machine: machine(),
  boot: boot(),
  // The same process has another start time in another time namespace.
  namespaces: `${pidNamespace()} ${timeNamespace()}`.trim(),
  pid,
  start: pid === process.pid ? ownStart() : startOf(pid),
});

/** Returns the mark of the current process. */
export const thisProcess = (): ProcessMark => markOf(process.pid);

/** Remembers a value that cannot change while this process runs. A failed read is repeated. */
const once = (read: () => string): (() => string) => {
  let value = '';
  return () => (value ||= readOrEmpty(read));
};

const machine = once(() => readFileSync('/etc/machine-id', 'utf8').trim());
const boot = once(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
const pidNamespace = once(() => readlinkSync('/proc/self/ns/pid'));
const timeNamespace = once(() => readlinkSync('/proc/self/ns/time'));
const ownStart = once(() => startOf(process.pid));

/**
 * Returns whether a marked process is still running.
 *
 * - `alive`: the process runs on this machine.
 * - `dead`: it has ended, its pid belongs to a later process, or the machine was rebooted since. A zombie is dead too,
 *   because containers without an init process never reap it.
 * - `unknown`: it runs on another machine or in another container, or the system cannot tell it from a later process
 *   with the same pid. Use a lease to decide when such a process is presumed dead.
 *
 * @example
 * ```ts
 * import { processState, thisProcess } from '@h/process';
 *
 * const owner = JSON.stringify(thisProcess()); // write this into the lock file
 * const isFree = processState(JSON.parse(owner)) === 'dead';
 * ```
 */
export const processState = (mark: ProcessMark): 'alive' | 'dead' | 'unknown' => {
  const here = thisProcess();
  if (mark.host !== here.host || mark.machine !== here.machine || mark.namespaces !== here.namespaces) return 'unknown';
  // Without a machine id, another boot id may belong to another machine with the same host name.
  if (mark.boot !== here.boot) return here.machine === '' ? 'unknown' : 'dead';
  if (!isRunning(mark.pid)) return 'dead';
  const start = startOf(mark.pid);
  if (start === mark.start && (start !== '' || mark.pid === here.pid)) return 'alive';
  return start === '' || mark.start === '' ? 'unknown' : 'dead';
};

/**
 * Reads the start time from `/proc/<pid>/stat`: field 22. The second field is the name in brackets and may contain
 * anything, so the fields are counted from the last bracket. A zombie has the state `Z`. If `/proc` was mounted for
 * another pid namespace, its numbers belong to other processes.
 */
const startOf = (pid: number): string =>
  readOrEmpty(() => {
    if (readlinkSync('/proc/self') !== `${process.pid}`) return '';
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? 'ended' : (fields[18] ?? '');
  });

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const readOrEmpty = (read: () => string): string => {
  try {
    return read();
  } catch {
    return ''; // The system is not Linux, or the process has just ended.
  }
};
