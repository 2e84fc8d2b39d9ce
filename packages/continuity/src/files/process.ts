import { createHash } from 'node:crypto';
import { markOf as wholeMarkOf, processState, type ProcessMark as WholeMark } from '@h/process';

/** A process, told apart from a later one that gets its number. It stands in files that are committed: what names a machine is hashed. */
export interface ProcessMark {
  /** Stands for the machine, and the namespaces in which numbers and starts of processes mean something. */
  readonly machine: string;
  /** Stands for the boot of the machine. */
  readonly boot: string;
  readonly pid: number;
  /** When the process began, in the system's own count; empty where it does not tell. */
  readonly start: string;
}

/** A process of this machine. */
export const markOf = (pid: number): ProcessMark => hashed(wholeMarkOf(pid));

/** The process that asks. */
export const thisProcess = (): ProcessMark => markOf(process.pid);

/** Whether a process is surely gone. One of another machine or container never is; neither is one whose number a process has that cannot be told apart. */
export const isGone = ({ machine, boot, pid, start }: ProcessMark): boolean => {
  const whole = wholeMarkOf(process.pid);
  const here = hashed(whole);
  return (
    machine === here.machine &&
    processState({ ...whole, boot: boot === here.boot ? whole.boot : 'another', pid, start }) === 'dead'
  );
};

const hashed = ({ host, machine, namespaces, boot, pid, start }: WholeMark): ProcessMark => ({
  machine: hashOf(host, machine, namespaces),
  boot: boot === '' ? '' : hashOf(boot),
  pid,
  start,
});

const hashOf = (...known: readonly string[]): string =>
  createHash('sha256').update(known.join('\n')).digest('hex').slice(0, 16);
