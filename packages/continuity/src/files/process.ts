import { createHash } from 'node:crypto';
import { markOf as fullMarkOf, processState, type ProcessMark } from '@h/process';

/**
 * Identifies a process in a file that is committed: a process mark of `@h/process` without the names of the machine.
 */
export interface AnonymousMark {
  /** A hash of the machine and its process namespaces. */
  readonly machine: string;
  /** A hash of the machine's boot id. */
  readonly boot: string;
  readonly pid: number;
  /** The start time of the process in the system's own unit; empty if unknown. */
  readonly start: string;
}

/** The mark of a process of this machine. */
export const markOf = (pid: number): AnonymousMark => hashed(fullMarkOf(pid));

/** The mark of this process. */
export const thisProcess = (): AnonymousMark => markOf(process.pid);

/** Whether a mark is that of this process. */
export const isThisProcess = ({ machine, boot, pid, start }: AnonymousMark): boolean => {
  const own = thisProcess();
  return machine === own.machine && boot === own.boot && pid === own.pid && start === own.start;
};

/** Whether a process has certainly ended. Processes of other machines and containers count as running. */
export const isGone = ({ machine, boot, pid, start }: AnonymousMark): boolean => {
  const full = fullMarkOf(process.pid);
  const here = hashed(full);
  return (
    machine === here.machine &&
    processState({ ...full, boot: boot === here.boot ? full.boot : 'another', pid, start }) === 'dead'
  );
};

const hashed = ({ host, machine, namespaces, boot, pid, start }: ProcessMark): AnonymousMark => ({
  machine: hashOf(host, machine, namespaces),
  boot: boot === '' ? '' : hashOf(boot),
  pid,
  start,
});

const hashOf = (...known: readonly string[]): string =>
  createHash('sha256').update(known.join('\n')).digest('hex').slice(0, 16);
