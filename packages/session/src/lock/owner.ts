import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** A process, told apart from a later one that gets the same number. */
export interface Owner {
  /** The machine, and on Linux the namespace in which its process numbers mean something. */
  readonly host: string;
  /** What tells the machine from others of the same name; empty where it has no such thing. */
  readonly machine: string;
  /** The boot of the machine; empty where the system does not tell. */
  readonly boot: string;
  readonly pid: number;
  /** When the process began, in the system's own count; empty where it does not tell. */
  readonly start: string;
}

/** A process of this machine. */
export const ownerOf = (pid: number): Owner => ({ host: hostId(), machine: machineId(), boot: bootId(), pid, start: startOf(pid) });

/** Who is asking. */
export const thisProcess = (): Owner => ownerOf(process.pid);

/**
 * Whether a process is there: `unknown` when it runs elsewhere, or when a process with its number is there and the
 * system does not tell whether it is the same one.
 */
export const lookAt = (owner: Owner): 'alive' | 'dead' | 'unknown' => {
  if (owner.host !== hostId() || owner.machine !== machineId()) return 'unknown';
  // Without a machine's own id, another boot may as well be that of another machine.
  if (owner.boot !== bootId()) return owner.machine === '' ? 'unknown' : 'dead';
  if (!isThere(owner.pid)) return 'dead';
  if (owner.pid === process.pid && owner.start === startOf(owner.pid)) return 'alive';
  if (owner.start === '') return 'unknown';
  return startOf(owner.pid) === owner.start ? 'alive' : 'dead';
};

const hostId = (): string => `${hostname()}${valueOf(() => readlinkSync('/proc/self/ns/pid'))}`;

const machineId = (): string => valueOf(() => readFileSync('/etc/machine-id', 'utf8').trim());

const bootId = (): string => valueOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());

/**
 * The 22nd field of what Linux says of a process, counted behind its name, which may hold spaces and brackets. One that has ended and
 * that its parent has not asked about yet still has a number, but is no more.
 */
const startOf = (pid: number): string =>
  valueOf(() => {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? 'ended' : (fields[18] ?? '');
  });

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

const valueOf = (read: () => string): string => {
  try {
    return read();
  } catch {
    return ''; // Not Linux, or the process has just ended.
  }
};
