import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workbench } from '../../test/workbench.js';
import type { WorkspaceLimits } from '../workspace.js';
import { readTool } from './read.js';

let bench: ReturnType<typeof workbench>;
beforeEach(() => (bench = workbench()));
afterEach(() => bench.remove());

const withLimits = (limits: WorkspaceLimits) => {
  bench.remove();
  bench = workbench({ limits });
};
const read = (input: unknown) => bench.call(readTool, input);
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`).join('\n');

const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(40, 7)]);

describe('read', () => {
  it('shows numbered lines', async () => {
    bench.put('src/a.ts', 'one\n\ttwo\n');
    expect(await read({ path: 'src/a.ts' })).toMatchObject({
      status: 'ok',
      text: '1\tone\n2\t\ttwo',
      details: { kind: 'read', path: 'src/a.ts', firstLine: 1, lastLine: 2, totalLines: 2, bytes: 9 },
    });
  });

  it('removes byte order marks and carriage returns, and accepts names in any script', async () => {
    bench.put('каталог/ファイル 🙂.txt', '\uFEFFa\r\nb\r\n');
    expect(await read({ path: 'каталог/ファイル 🙂.txt' })).toMatchObject({
      text: '1\ta\n2\tb',
      details: { path: 'каталог/ファイル 🙂.txt' },
    });
  });

  it('shows a range and how to continue', async () => {
    bench.put('a', numbered(1, 100));
    expect((await read({ path: 'a', offset: 99 })).text).toBe('99\tline 99\n100\tline 100');
    expect((await read({ path: 'a', offset: 2, limit: 2 })).text).toBe(
      '2\tline 2\n3\tline 3\n[Lines 2 to 3 of 100. Use offset=4 to continue.]',
    );
  });

  it('shows at most 2,000 lines, even if more are requested', async () => {
    bench.put('a', numbered(1, 2_500));
    for (const limit of [undefined, 2_400]) {
      const { text, details } = await read({ path: 'a', ...(limit && { limit }) });
      expect(text).toContain('\n2000\tline 2000\n[Lines 1 to 2000 of 2500. Use offset=2001 to continue.]');
      expect(details).toMatchObject({ lastLine: 2_000, totalLines: 2_500 });
    }
  });

  it('shows at most 50 KB in whole lines', async () => {
    bench.put('a', `${'x'.repeat(1_000)}\n`.repeat(200));
    const { text } = await read({ path: 'a' });
    expect(text).toContain('[Lines 1 to 51 of 200. Use offset=52 to continue.]');
    expect(Buffer.byteLength(text)).toBeLessThan(52 * 1024);
  });

  it('truncates a line of a megabyte, and shows its parts by column', async () => {
    const json = JSON.stringify({ rows: Array.from({ length: 60_000 }, (_, id) => ({ id, ok: true })) });
    expect(json.length).toBeGreaterThan(1_000_000);
    bench.put('data.json', json);
    const { text } = await read({ path: 'data.json' });
    expect(text).toContain(
      `1\t${json.slice(0, 2_000)}…\n[Truncated lines: 1 (${json.length} bytes). Use column=2001 to see the rest.]`,
    );
    expect(text.length).toBeLessThan(2_200);
    expect((await read({ path: 'data.json', column: 2_001 })).text).toContain(`1\t${json.slice(2_000, 4_000)}…`);
    expect((await read({ path: 'data.json', column: json.length - 9 })).text).toBe(`1\t${json.slice(-10)}`);
  });

  it('follows other limits', async () => {
    withLimits({ maxReadLines: 2, maxOutputBytes: 40, maxLineChars: 5 });
    bench.put('a', 'abcdefgh\nb\nc\n');
    expect((await read({ path: 'a' })).text).toBe(
      '1\tabcde…\n2\tb\n[Truncated lines: 1 (8 bytes). Use column=6 to see the rest.]\n[Lines 1 to 2 of 3. Use offset=3 to continue.]',
    );
    bench.put('b', 'abcdefgh\n'.repeat(10));
    withLimits({ maxOutputBytes: 20 });
    bench.put('b', 'abcde\n'.repeat(10));
    expect((await read({ path: 'b' })).text).toContain('[Lines 1 to 3 of 10. Use offset=4 to continue.]');
  });

  it('does not count the lines of a file larger than maxFileBytes', async () => {
    withLimits({ maxFileBytes: 1_000, maxReadLines: 10 });
    bench.put('a', numbered(1, 200_000));
    const { text, details } = await read({ path: 'a' });
    expect(text).toContain('[Lines 1 to 10; more follow. Use offset=11 to continue.]');
    expect(details).not.toHaveProperty('totalLines');
    expect((await read({ path: 'a', offset: 199_999 })).text).toBe('199999\tline 199999\n200000\tline 200000');
  });

  it('fails for an offset past the end', async () => {
    bench.put('a', 'one\ntwo\n');
    expect(await read({ path: 'a', offset: 3 })).toMatchObject({
      status: 'failed',
      code: 'offset-past-end',
      text: 'offset 3 is past the end: a has 2 lines.',
    });
    bench.put('empty', '');
    expect((await read({ path: 'empty' })).text).toBe('(empty is empty)');
    expect(await read({ path: 'empty', offset: 2 })).toMatchObject({ code: 'offset-past-end' });
  });

  it.each([{ offset: 0 }, { offset: 1.5 }, { limit: 0 }, { column: -1 }])('refuses %j', async (range) => {
    bench.put('a', 'x');
    expect(await read({ path: 'a', ...range })).toMatchObject({ status: 'invalid-input' });
  });

  it('shows an image as an image, regardless of its name', async () => {
    bench.put('photo.txt', png);
    const { outcome, details } = await read({ path: 'photo.txt' });
    expect(outcome.output).toEqual({
      type: 'content',
      value: [
        { type: 'text', text: 'photo.txt is an image (image/png, 48 bytes):' },
        { type: 'file', data: { type: 'data', data: png.toString('base64') }, mediaType: 'image/png' },
      ],
    });
    expect(details).toMatchObject({ mediaType: 'image/png' });
    bench.put('text.png', 'just text');
    expect((await read({ path: 'text.png' })).text).toBe('1\tjust text');
  });

  it.each([
    ['image/jpeg', 'ffd8ffe000104a464946'],
    ['image/gif', '4749463839610100'],
    ['image/webp', '524946462400000057454250'],
  ])('recognizes %s by its first bytes', async (mediaType, bytes) => {
    bench.put('x', Buffer.from(bytes, 'hex'));
    expect((await read({ path: 'x' })).details).toMatchObject({ mediaType });
  });

  it('describes images that are too large and other binary files', async () => {
    withLimits({ maxImageBytes: 47 });
    bench.put('a.png', png);
    bench.put('a.bin', Buffer.from([1, 2, 0, 3]));
    bench.put('a.pdf', '%PDF-1.7 text');
    bench.put('utf16', Buffer.from('\uFEFFhello', 'utf16le'));
    expect((await read({ path: 'a.png' })).text).toBe(
      'a.png is an image (image/png) of 48 bytes, too large to be shown.',
    );
    expect((await read({ path: 'a.bin' })).text).toBe(
      'a.bin is binary data of an unknown type, 4 bytes. Its content is not shown.',
    );
    expect((await read({ path: 'a.pdf' })).text).toContain('a PDF document');
    expect((await read({ path: 'utf16' })).text).toContain('UTF-16 text');
  });

  it('fails for a folder, and lists its content', async () => {
    bench.put('src/a.ts', '');
    bench.put('src/lib/b.ts', '');
    bench.put('src/.env', '');
    expect(await read({ path: 'src' })).toMatchObject({
      status: 'failed',
      code: 'is-folder',
      text: 'src is a folder. It contains src/a.ts, src/lib/. List it with glob, such as {"pattern":"*","path":"src"}.',
    });
    mkdirSync(bench.at('none'));
    expect((await read({ path: 'none' })).text).toContain('It is empty');
    for (let index = 10; index < 50; index += 1) bench.put(`many/${index}`, '');
    expect((await read({ path: 'many' })).text).toContain('many/39 and 10 more');
  });

  it('fails for a missing file and names similar ones', async () => {
    bench.put('src/Index.ts', '');
    bench.put('src/index.test.ts', '');
    expect(await read({ path: 'src/index.js' })).toMatchObject({
      status: 'failed',
      code: 'not-found',
      text: 'src/index.js does not exist. Similar files: src/Index.ts, src/index.test.ts.',
    });
    expect((await read({ path: 'nowhere/x' })).text).toBe('nowhere/x does not exist. Find it with glob.');
  });

  it('names no neighbors of a workspace that was removed', async () => {
    mkdirSync(`${bench.root}-secret`);
    rmSync(bench.root, { recursive: true });
    expect((await read({ path: '.' })).text).not.toContain('secret');
  });

  it('fails for a pipe or device without blocking', async () => {
    execFileSync('mkfifo', [bench.at('pipe')]);
    expect(await read({ path: 'pipe' })).toMatchObject({ code: 'not-a-file' });
  });

  it('stays in the workspace', async () => {
    writeFileSync(`${bench.base}/secret`, 'SECRET');
    symlinkSync('../secret', bench.at('link'));
    bench.put('.env', 'KEY=1');
    for (const [path, code] of [
      ['../secret', 'outside'],
      ['link', 'link-outside'],
      ['/etc/passwd', 'outside'],
      ['~/x', 'home'],
      ['.env', 'not-permitted'],
    ]) {
      const result = await read({ path });
      expect(result).toMatchObject({ status: 'failed', code });
      expect(result.text).not.toContain('SECRET');
    }
  });

  it('reads a file of a gigabyte in little memory', async () => {
    bench.put('sparse', 'first\n');
    truncateSync(bench.at('sparse'), 2 ** 30);
    // A file full of NUL after its first bytes is binary; one whose text continues is not.
    expect((await read({ path: 'sparse' })).text).toContain('binary data');
    withLimits({ maxReadLines: 1 });
    bench.put('large', 'line\n'.repeat(2_000));
    truncateSync(bench.at('large'), 2 ** 30);
    const before = process.memoryUsage().arrayBuffers;
    expect((await read({ path: 'large', offset: 2_000 })).text).toContain(
      '2000\tline\n[Lines 2000 to 2000; more follow',
    );
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
  });

  it('stops when it is aborted', async () => {
    bench.put('large', 'line\n'.repeat(2_000));
    truncateSync(bench.at('large'), 2 ** 30);
    const tool = readTool(bench.workspace);
    const context = {
      call: { id: '1', name: 'read' },
      turn: 't',
      session: 's',
      step: 1,
      signal: AbortSignal.abort(),
      progress: () => undefined,
    };
    await expect(tool.run({ path: 'large', offset: 3_000 }, context)).rejects.toMatchObject({ name: 'AbortError' });
  });
});
