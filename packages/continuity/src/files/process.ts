import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { fileErrorCode } from './errors.js';

/** A process, told apart from a later one that gets the same number. */
export interface ProcessMark {
  /** Stands for the machine, its boot, and the namespaces in which numbers and starts of processes mean something. */
  readonly machine: string;
  readonly pid: number;
  /** When the process began, in the system's own count; empty where it does not tell. */
  readonly start: string;
}

/** A process of this machine. */
export const markOf = (pid: number): ProcessMark => ({ machine: machineMark(), pid, start: startOf(pid) });

/** The process that asks. */
export const thisProcess = (): ProcessMark => markOf(process.pid);

/** Whether a process is surely gone. One of another machine never is; neither is one whose number a process has that cannot be told apart. */
export const isGone = ({ machine, pid, start }: ProcessMark): boolean => {
  if (machine !== machineMark()) return false;
  if (!isThere(pid)) return true;
  return start !== '' && startOf(pid) !== '' && startOf(pid) !== start;
};

const machineMark = (): string => {
  // In another time namespace the same process has another start.
  const namespaces = ['pid', 'time'].map((name) => valueOf(() => readlinkSync(`/proc/self/ns/${name}`)));
  const known = [hostname(), valueOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()), ...namespaces];
  return createHash('sha256').update(known.join('\n')).digest('hex').slice(0, 16);
};

/**
 * The 22nd field of what Linux says of a process, counted behind its name, which may hold spaces and brackets. One that has ended and
 * that its parent has not asked about yet still has a number, but is no more. Where `/proc` was mounted for another namespace than ours,
 * what it says of a number is said of somebody else.
 */
const startOf = (pid: number): string =>
  valueOf(() => {
    if (readlinkSync('/proc/self') !== `${process.pid}`) return '';
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', ...fields] = line.slice(line.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X' ? 'ended' : (fields[18] ?? '');
  });

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return fileErrorCode(error) !== 'ESRCH';
  }
};

/** Nothing where it is no Linux, or the process has just ended. */
const valueOf = (read: () => string): string => {
  try {
    return read();
  } catch {
    return '';
  }
};
