import { mkdtempSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sampleRecording } from '../../test/sample-recording.js';
import { main } from './main.js';

const run = async (text: string | undefined, ...args: readonly string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'h-trace-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'turn.jsonl');
  if (text !== undefined) writeFileSync(file, text);
  const said: string[] = [];
  const complained: string[] = [];
  const code = await main(
    args.map((arg) => arg.replace('FILE', file)),
    {
      isTerminal: args.includes('--colour'),
      print: (line) => said.push(line),
      printError: (line) => complained.push(line),
    },
  );
  return { code, said: said.join('\n'), complained: complained.join('\n'), file };
};

describe('h-trace', () => {
  it('prints the tree, with costs, and writes the page beside the recording', async () => {
    const { code, said, file, complained } = await run(sampleRecording({ steps: 3, tools: 2 }), 'FILE');
    expect([code, complained]).toEqual([0, '']);
    expect(said).toMatch(
      /^turn 7f3a91c2-5b1e · user · completed · .*\n3 steps · 4 tool calls · .* tokens \(85 % cached\) · \$0\.0\d+ · anthropic/,
    );
    expect(said.endsWith(`${file}.html`)).toBe(true);
    expect(readFileSync(`${file}.html`, 'utf8')).toContain('<!doctype html>');
    expect(statSync(`${file}.html`).mode & 0o777).toBe(0o600);
  });

  it('applies its options', async () => {
    const two =
      sampleRecording({ steps: 1, tools: 0, turn: 'aaa-1' }) + sampleRecording({ steps: 1, tools: 0, turn: 'bbb-2' });
    const both = await run(two, 'FILE', '--no-html');
    expect([both.said.match(/^turn /gm)?.length, existsSync(`${both.file}.html`)]).toEqual([2, false]);
    const one = await run(two, 'FILE', '--turn', 'bbb', '--html', 'FILE.page');
    expect(one.said).not.toContain('aaa');
    expect(existsSync(`${one.file}.page`)).toBe(true);
    expect((await run(undefined, '--help')).said).toContain('Usage: h-trace FILE');
  });

  it('reports skipped lines', async () => {
    const { code, complained } = await run(`${sampleRecording({ steps: 1, tools: 0 })}{"v":1,"se`, 'FILE', '--no-html');
    expect([code, complained]).toEqual([0, '1 line was skipped: torn by a crash, or not part of a recording.']);
  });

  it.each<[string | undefined, readonly string[], number, string]>([
    [undefined, [], 2, 'h-trace requires exactly one file.'],
    [undefined, ['a', 'b'], 2, 'h-trace requires exactly one file.'],
    [undefined, ['FILE', '--what'], 2, "Unknown option '--what'"],
    [undefined, ['FILE'], 1, 'ENOENT'],
    ['{"type":"run.completed"}\n', ['FILE'], 1, 'contains no recorded turn'],
    [
      sampleRecording({ steps: 1, tools: 0 }),
      ['FILE', '--turn', 'zzz'],
      1,
      'contains no turn whose id starts with "zzz"',
    ],
    [sampleRecording({ steps: 1, tools: 0 }), ['FILE', '--html', 'FILE/x'], 1, 'Cannot write'],
  ])('ends for the file %j and the arguments %j with code %d', async (text, args, code, message) => {
    const result = await run(text, ...args);
    expect(result.code).toBe(code);
    expect(result.complained).toContain(message);
  });
});
