import { isatty } from 'node:tty';

interface Stream {
  readonly isTTY?: boolean;
  readonly fd: number;
}

/** The parts of a process that may have a terminal. */
export interface TerminalProcess {
  readonly stdin: Stream;
  readonly stdout: Stream;
  readonly stderr: Stream;
  readonly pid: number;
  kill(pid: number, signal: 'SIGHUP'): unknown;
  removeAllListeners(signal: 'SIGHUP'): unknown;
}

/**
 * Ends the process by SIGHUP if its terminal was closed. Call it before a program that handles SIGHUP exits: Node.js
 * restores the terminal on exit, and aborts with a core dump if the terminal was closed.
 */
export const endOnClosedTerminal = (process: TerminalProcess): void => {
  if (![process.stdin, process.stdout, process.stderr].some(isClosedTerminal)) return;
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
};

const isClosedTerminal = ({ isTTY = false, fd }: Stream): boolean => isTTY && !isatty(fd);
