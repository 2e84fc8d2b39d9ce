import { PassThrough } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { expect, describe, it, onTestFinished } from 'vitest';
import { LineEditor } from './line-editor.js';

/** Opens an editor on an input that a test writes to. */
const openEditor = () => {
  const lines: string[] = [];
  const drafts: string[] = [];
  const modes: boolean[] = [];
  let onDraft = (): void => undefined;
  const input = Object.assign(new PassThrough(), { setRawMode: (isRaw: boolean) => modes.push(isRaw) });
  const ending = new Promise<void>((resolve) => {
    const editor = new LineEditor(input as unknown as ReadStream, {
      draft: ({ text }) => {
        drafts.push(text);
        onDraft();
      },
      line: (line) => lines.push(line),
      interrupt: () => undefined,
      end: resolve,
    });
    editor.open();
    onTestFinished(() => editor.close());
  });
  return {
    lines,
    drafts,
    modes,
    input,
    /** Resolves once the draft is this text. */
    drafted: (text: string) =>
      new Promise<void>((resolve) => {
        onDraft = () => {
          if (drafts.at(-1) === text) resolve();
        };
        onDraft();
      }),
    /** Ends the input. */
    ended: () => {
      input.end();
      return ending;
    },
  };
};

/** Sends input to an editor and returns its output at the end of the input. */
const entered = async (...chunks: readonly string[]) => {
  const { lines, drafts, modes, input, ended } = openEditor();
  for (const chunk of chunks) input.write(chunk);
  await ended();
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

  it('preserves a paste of megabytes', async () => {
    const large = Array.from({ length: 50_000 }, (_, index) => `line ${index} of a large paste`).join('\n');
    expect((await entered(paste(large), '\r')).lines).toEqual([large]);
  });

  it('emits many lines without marks, which only a paste sends at once, as one message', async () => {
    const many = Array.from({ length: 600 }, (_, index) => `line ${index}`);
    const chunks = (
      many
        .map((line) => `${line}\r`)
        .join('')
        .match(/[^]{1,4095}/g) ?? []
    ).map(String);
    const editor = openEditor();
    editor.input.write('Look: ');
    for (const chunk of chunks) editor.input.write(chunk);
    await editor.drafted('Look: [600 pasted lines]');
    expect(editor.lines).toEqual([]);
    editor.input.write('The end.\r');
    await editor.ended();
    expect(editor.lines).toEqual([`Look: ${many.join('\n')}\nThe end.`]);
  });

  it('sends the same for every split of a marked paste of several lines', async () => {
    const input = `x${paste('a\nb\nc\nd\ne')}y\r`;
    for (let cut = 1; cut < input.length; cut += 1) {
      expect((await entered(input.slice(0, cut), input.slice(cut))).lines).toEqual(['xa\nb\nc\nd\ney']);
    }
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
