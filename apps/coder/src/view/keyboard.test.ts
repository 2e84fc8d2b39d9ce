import { text, isCancel } from '@clack/prompts';
import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { openKeyboard } from './keyboard.js';

/** A terminal that fails as Node's does after it was closed: its errors are events. */
const fakeTerminal = () => {
  let isClosed = false;
  const terminal = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: () => isClosed && terminal.emit('error', new Error('setRawMode EIO')),
  });
  const close = (event: 'end' | 'error'): void => {
    isClosed = true;
    if (event === 'end') terminal.end();
    else terminal.destroy(new Error('read EIO'));
  };
  terminal.on('error', () => undefined);
  return { terminal, close };
};

const ask = (terminal: ReturnType<typeof fakeTerminal>['terminal']) => {
  const given = new AbortController();
  const keyboard = openKeyboard(terminal, () => given.abort());
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  return text({ message: 'Allow it?', input: keyboard.keys, output, signal: given.signal }).finally(keyboard.release);
};

describe('a prompt on a keyboard', () => {
  it('returns what is typed', async () => {
    const { terminal } = fakeTerminal();
    const answer = ask(terminal);
    terminal.write('y\r');
    expect(await answer).toBe('y');
  });

  it.each(['end', 'error'] as const)('is cancelled if the terminal is closed, with the event %s', async (event) => {
    const { terminal, close } = fakeTerminal();
    const answer = ask(terminal);
    close(event);
    expect(isCancel(await answer)).toBe(true);
  });
});
