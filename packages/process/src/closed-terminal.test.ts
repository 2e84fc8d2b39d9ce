import { EventEmitter } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { endOnClosedTerminal } from './closed-terminal.js';

/** A process with a listener of SIGHUP, that records its signals. */
const fakeProcess = (stderr: { readonly isTTY?: boolean; readonly fd: number }) => {
  const signals: string[] = [];
  const pipe = { fd: stderr.fd };
  const process = Object.assign(new EventEmitter(), {
    stdin: pipe,
    stdout: pipe,
    stderr,
    pid: 1,
    kill: (_pid: number, signal: string) => signals.push(`${signal} with ${process.listenerCount(signal)} listeners`),
  });
  process.on('SIGHUP', () => undefined);
  return { process, signals };
};

/** A descriptor that is no terminal, as that of a closed one. */
const noTerminal = (): number => {
  const fd = openSync('/dev/null', 'r');
  onTestFinished(() => closeSync(fd));
  return fd;
};

describe('endOnClosedTerminal', () => {
  it('ends the process by SIGHUP, whose listeners are removed', () => {
    const { process, signals } = fakeProcess({ isTTY: true, fd: noTerminal() });
    endOnClosedTerminal(process);
    expect(signals).toEqual(['SIGHUP with 0 listeners']);
  });

  it('does nothing without a terminal', () => {
    const { process, signals } = fakeProcess({ fd: noTerminal() });
    endOnClosedTerminal(process);
    expect(signals).toEqual([]);
  });
});
