import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { expect, describe, it, onTestFinished } from 'vitest';
import { LineEditor } from './line-editor.js';

/** Sends input to an editor and returns its output at the end of the input. */
const entered = async (...chunks: readonly string[]) => {
  const lines: string[] = [];
  const drafts: string[] = [];
  const modes: boolean[] = [];
  const input = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  const ended = new Promise<void>((resolve) => {
    const editor = new LineEditor(input as unknown as ReadStream, {
      draft: ({ text }) => drafts.push(text),
      line: (line) => lines.push(line),
      interrupt: () => undefined,
      end: resolve,
    });
    editor.open();
    onTestFinished(() => editor.close());
  });
  for (const chunk of chunks) input.write(chunk);
  input.end();
  await ended;
  return { lines, drafts, modes };
};

const paste = (text: string): string => `\u001B[200~${text}\u001B[201~`;

describe('LineEditor', () => {
  it('emits each typed line', async () => {
    expect(await entered('First\rSec', 'ond\r')).toMatchObject({ lines: ['First', 'Second'], modes: [true, false] });
  });

  it('emits a paste and the text around it as one message', async () => {
    const { lines, drafts } = await entered(`Fix: ${paste('a\n\tb\n\nc')}, please\r`);
    expect(lines).toEqual(['Fix: a\n\tb\n\nc, please']);
    expect(drafts).toContain('Fix: [4 pasted lines]');
  });

  it('preserves a paste of megabytes and many lines in one burst', async () => {
    const large = Array.from({ length: 50_000 }, (_, index) => `line ${index} of a large paste`).join('\n');
    expect((await entered(paste(large), '\r')).lines).toEqual([large]);
    const many = Array.from({ length: 600 }, (_, index) => `line ${index}`);
    expect((await entered(many.map((line) => `${line}\r`).join(''))).lines).toEqual(many);
  });

  it('adds a line for Alt-Enter and after a backslash', async () => {
    const { lines, drafts } = await entered('a\u001B\rb\\\rc\r');
    expect(lines).toEqual(['a\nb\nc']);
    expect(drafts).toContain('a↵b↵c');
  });

  it('removes a paste with one backspace', async () => {
    expect((await entered(`a${paste('b\nc')}\u007F\r`)).lines).toEqual(['a']);
  });
});
