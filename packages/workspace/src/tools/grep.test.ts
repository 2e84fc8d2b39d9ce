import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callTool, workbench } from '../../test/workbench.js';
import { findRipgrep } from '../search/find-ripgrep.js';
import { createWorkspace, type WorkspaceOptions } from '../workspace.js';
import { grepTool } from './grep.js';

let bench: ReturnType<typeof workbench>;
let engine: string;
const open = (options: Omit<WorkspaceOptions, 'root'> = {}) => {
  bench = workbench({ ripgrep: engine, ...options });
};
const reopen = (options: Omit<WorkspaceOptions, 'root'>) => {
  bench.remove();
  open(options);
};
afterEach(() => bench.remove());

const grep = (pattern: string, more = {}) => bench.call(grepTool, { pattern, ...more });
const textOf = async (pattern: string, more = {}) => (await grep(pattern, more)).text;
const contextOf = (signal: AbortSignal) => ({
  call: { id: '1', name: 'grep' },
  turn: 't',
  session: 's',
  step: 1,
  signal,
  progress: () => undefined,
});

const ripgrep = findRipgrep({ ripgrep: 'auto', paths: { root: '/nowhere' } as never });
const engines: readonly (readonly [string, string, boolean])[] = [
  ['without ripgrep', 'never', true],
  ['with ripgrep (needs rg on the PATH)', 'auto', ripgrep !== undefined],
];

for (const [name, choice, isPresent] of engines) {
  describe.skipIf(!isPresent)(`grep ${name}`, () => {
    beforeEach(() => {
      engine = choice;
      open();
    });

    it('shows matching lines by file in the order of names', async () => {
      bench.put('src/b.ts', 'const x = 1;\nlet y;\nconst z = 2;\n');
      bench.put('a.ts', 'const a = 0;\n');
      bench.put('none.ts', 'nothing');
      expect(await grep('^const \\w+')).toMatchObject({
        status: 'ok',
        text: 'a.ts\n1: const a = 0;\n\nsrc/b.ts\n1: const x = 1;\n3: const z = 2;',
        details: { kind: 'grep', pattern: '^const \\w+', path: '.', matches: 3, files: 2, isCut: false },
      });
    });

    it('sorts folders and files by the bytes of their names', async () => {
      const names = [
        'a-b/x',
        'a.ts',
        'a/b/c',
        'a/b.ts',
        'B',
        'b',
        'é',
        'z',
        '\u{ffee}',
        '\u{10000}',
        '🙂',
        '.hidden/x',
      ];
      for (const path of names) bench.put(path, 'hit');
      expect(await textOf('hit', { filesOnly: true })).toBe(
        ['.hidden/x', 'B', 'a/b/c', 'a/b.ts', 'a-b/x', 'a.ts', 'b', 'z', 'é', '\u{ffee}', '\u{10000}', '🙂'].join('\n'),
      );
    });

    it('shows context lines once, and marks gaps', async () => {
      bench.put('a', ['1', 'hit', '3', '4', 'hit', '6', '7', '8', '9', 'hit'].join('\n'));
      expect(await textOf('hit', { context: 1 })).toBe('a\n1- 1\n2: hit\n3- 3\n4- 4\n5: hit\n6- 6\n--\n9- 9\n10: hit');
      expect(await textOf('hit', { context: 0 })).toBe('a\n2: hit\n5: hit\n10: hit');
      expect(await textOf('hit', { context: 20 })).not.toContain('--');
    });

    it('shows only paths with filesOnly', async () => {
      bench.put('a', 'hit\nhit');
      bench.put('b', 'hit');
      expect(await grep('hit', { filesOnly: true, context: 3 })).toMatchObject({
        text: 'a\nb',
        details: { files: 2, isCut: false },
      });
    });

    it('supports ignoreCase and literal, alone and together', async () => {
      bench.put('a', 'Foo(1)\nfoo(2)\nÄ(3)');
      expect(await textOf('foo')).toBe('a\n2: foo(2)');
      expect(await textOf('foo', { ignoreCase: true })).toBe('a\n1: Foo(1)\n2: foo(2)');
      expect(await textOf('foo(', { literal: true })).toBe('a\n2: foo(2)');
      expect(await textOf('FOO(', { literal: true, ignoreCase: true })).toBe('a\n1: Foo(1)\n2: foo(2)');
      expect(await textOf('ä', { ignoreCase: true })).toBe('a\n3: Ä(3)');
      expect(await textOf('(?i)FOO')).toBe('a\n1: Foo(1)\n2: foo(2)');
      expect(await textOf('.', { literal: true })).toBe('No line matches.');
    });

    it('searches a folder or a single file', async () => {
      bench.put('src/a.ts', 'hit');
      bench.put('src/lib/b.ts', 'hit');
      bench.put('c.ts', 'hit');
      expect(await textOf('hit', { path: 'src', filesOnly: true })).toBe('src/a.ts\nsrc/lib/b.ts');
      expect(await textOf('hit', { path: 'src/a.ts' })).toBe('src/a.ts\n1: hit');
    });

    it('searches only files that match glob', async () => {
      for (const path of ['a.ts', 'b.md', 'src/c.ts', 'src/d.tsx', 'src/lib/e.ts', '[x].ts', 'src/{y}.md']) {
        bench.put(path, 'hit');
      }
      const files = (glob: string, more = {}) => textOf('hit', { glob, filesOnly: true, ...more });
      expect(await files('*.ts')).toBe('[x].ts\na.ts\nsrc/c.ts\nsrc/lib/e.ts');
      expect(await files('*.{md,tsx}')).toBe('b.md\nsrc/d.tsx\nsrc/{y}.md');
      expect(await files('src/*.ts')).toBe('src/c.ts');
      expect(await files('**/lib/**')).toBe('src/lib/e.ts');
      expect(await files('lib/*.ts', { path: 'src' })).toBe('src/lib/e.ts');
      expect(await files('\\[x\\].ts')).toBe('[x].ts');
      expect(await files('*.none')).toBe('No line matches.');
      expect(await grep('hit', { glob: '../*' })).toMatchObject({ code: 'invalid-pattern' });
    });

    it('omits ignored files unless includeIgnored is set', async () => {
      bench.put('.gitignore', '*.log\n!keep.log\n/dist/\nnode_modules\n');
      bench.put('src/.gitignore', 'out/\n!b.log\n');
      for (const path of [
        'a.log',
        'keep.log',
        'src/b.log',
        'src/out/c',
        'dist/d',
        'x/dist/e',
        'node_modules/m/i',
        '.git/config',
        '.github/f',
      ]) {
        bench.put(path, 'hit');
      }
      bench.put('.ignore', 'x\n');
      expect(await textOf('hit', { filesOnly: true })).toBe('.github/f\nkeep.log\nsrc/b.log\nx/dist/e');
      expect(await textOf('hit', { filesOnly: true, includeIgnored: true })).toBe(
        '.github/f\na.log\ndist/d\nkeep.log\nnode_modules/m/i\nsrc/b.log\nsrc/out/c\nx/dist/e',
      );
      expect(await textOf('hit', { filesOnly: true, path: 'node_modules/m' })).toBe('node_modules/m/i');
      expect(await textOf('hit', { filesOnly: true, path: 'src' })).toBe('src/b.log');
    });

    it('searches only text files and follows no links', async () => {
      mkdirSync(`${bench.base}/outside`);
      writeFileSync(`${bench.base}/outside/secret`, 'hit SECRET');
      symlinkSync('../outside', bench.at('folder'));
      symlinkSync('../outside/secret', bench.at('file'));
      symlinkSync('.', bench.at('loop'));
      execFileSync('mkfifo', [bench.at('pipe')]);
      bench.put('binary', Buffer.from('hit\0'));
      bench.put('plain', 'hit');
      expect(await textOf('hit')).toBe('plain\n1: hit');
      expect(await grep('hit', { path: 'folder' })).toMatchObject({ status: 'failed', code: 'link-outside' });
      expect(await grep('hit', { path: 'file' })).toMatchObject({ code: 'link-outside' });
      expect(await grep('hit', { path: 'pipe' })).toMatchObject({ code: 'not-a-file' });
    });

    it('never shows lines of unreadable files', async () => {
      bench.put('.env', 'KEY=hit');
      bench.put('deep/.env.local', 'KEY=hit');
      bench.put('a', 'hit');
      expect(await textOf('hit', { context: 1 })).toBe('a\n1: hit');
      expect(await grep('hit', { path: '.env' })).toMatchObject({ code: 'not-permitted' });
    });

    it('decodes byte order marks, CRLF, UTF-16 and invalid UTF-8', async () => {
      bench.put('bom', '\uFEFFfirst hit\r\nlast hit\r\n');
      bench.put('latin1', Buffer.from('caf\u00e9 hit', 'latin1'));
      bench.put('utf16', Buffer.from('\uFEFFwide hit\n', 'utf16le'));
      expect(await textOf('^first')).toBe('bom\n1: first hit');
      expect(await textOf('hit$')).toBe('bom\n1: first hit\n2: last hit\n\nlatin1\n1: caf� hit\n\nutf16\n1: wide hit');
    });

    it('truncates a line of 600 KB around the match', async () => {
      bench.put('data.json', `{"rows":[${'{"id":1},'.repeat(70_000)}{"id":"NEEDLE"},${'{"id":2},'.repeat(1_000)}]}`);
      const { text } = await grep('NEEDLE');
      expect(text.length).toBeLessThan(600);
      expect(text).toMatch(/^data\.json\n1: ….*NEEDLE.*…$/u);
    });

    it('shows a long line of context from its start', async () => {
      bench.put('a', `hit\nSTART ${'x'.repeat(5_000)}\n`);
      expect(await textOf('hit', { context: 1 })).toMatch(/^a\n1: hit\n2- START x+…$/u);
    });

    it('stops at its limits and reports it', async () => {
      reopen({ limits: { maxGrepMatches: 3, maxGlobResults: 2 } });
      bench.put('a', 'hit 1\nx\nhit 2\n');
      bench.put('b', 'hit 3\n');
      expect(await grep('hit')).toMatchObject({
        text: 'a\n1: hit 1\n3: hit 2\n\nb\n1: hit 3',
        details: { matches: 3, isCut: false },
      });
      bench.put('c', 'hit 4\n');
      expect(await grep('hit')).toMatchObject({ details: { matches: 3, files: 2, isCut: true } });
      expect(await textOf('hit')).toContain(
        '\n[These are the first 3 matching lines; more match. Use a narrower pattern, path or glob.]',
      );
      expect(await textOf('hit', { filesOnly: true })).toBe(
        'a\nb\n[These are the first 2 files; more match. Use a narrower pattern, path or glob.]',
      );
      for (const name of ['a', 'd', 'e']) bench.put(name, 'hit\n'.repeat(100_000));
      expect(await textOf('hit')).toContain('3: hit\n[These');
      expect(childrenOf(process.pid)).toEqual([]);
      reopen({ limits: { maxOutputBytes: 30 } });
      bench.put('a', 'hit 1\nhit 2\nhit 3\nhit 4');
      expect(await textOf('hit')).toBe(
        'a\n1: hit 1\n2: hit 2\n3: hit 3\n[These are the first 3 matching lines; more match. Use a narrower pattern, path or glob.]',
      );
      reopen({ limits: { maxFileBytes: 10 } });
      bench.put('large', 'hit 45678901');
      bench.put('small', 'hit');
      expect(await textOf('hit')).toBe('small\n1: hit');
      reopen({ limits: { maxGrepLineChars: 8 } });
      bench.put('a', 'abcdefghijklmnop');
      expect(await textOf('hij')).toMatch(/^a\n1: …?\w{8}…?$/u);
    });

    it('reports that nothing matches', async () => {
      bench.put('a', 'x');
      expect(await grep('nothing')).toMatchObject({
        status: 'ok',
        text: 'No line matches.',
        details: { matches: 0, files: 0 },
      });
    });

    it.each(['(', '[a', 'a{2,1}', '(?=x)', '(a)\\1', 'a\nb', '*'])('refuses the pattern %j', async (pattern) => {
      bench.put('a', 'x');
      const result = await grep(pattern);
      expect(result).toMatchObject({ status: 'failed', code: 'invalid-pattern' });
      expect(result.text).toMatch(/^The pattern cannot/u);
    });

    it('accepts a pattern that looks like an option', async () => {
      bench.put('a', 'use --pre=evil here\n-v\n');
      expect(await textOf('--pre=evil')).toBe('a\n1: use --pre=evil here');
      expect(await textOf('-v')).toBe('a\n2: -v');
    });

    it('runs quickly on patterns that are exponential in other engines', async () => {
      bench.put('a', `${'a'.repeat(50_000)}!\n${'ab'.repeat(20_000)}\n`);
      for (const pattern of [
        '(a+)+$',
        '(a|aa)+$',
        '(a|a?)+b$',
        '(.*a){30}!!',
        '^(([a-z])+.)+[A-Z]([a-z])+$',
        '(x+x+)+y',
      ]) {
        expect(await grep(pattern), pattern).toMatchObject({ status: 'ok' });
      }
    });

    it('fails if the path does not exist', async () => {
      expect(await grep('x', { path: 'missing' })).toMatchObject({ code: 'not-found' });
      expect(await grep('x', { path: '../' })).toMatchObject({ code: 'outside' });
    });

    it('continues after files that cannot be opened', async () => {
      bench.put('shut', 'hit');
      bench.put('z', 'hit');
      chmodSync(bench.at('shut'), 0);
      expect(await textOf('hit')).toContain('z\n1: hit');
    });

    it('stops when it is aborted', async () => {
      for (let file = 0; file < 30; file += 1) bench.put(`f${file}`, 'some text that repeats\n'.repeat(20_000));
      const controller = new AbortController();
      const running = grepTool(bench.workspace).run({ pattern: '(\\w+ ){3}x' }, contextOf(controller.signal));
      setImmediate(() => controller.abort());
      await expect(running).rejects.toMatchObject({ name: 'AbortError' });
      expect(childrenOf(process.pid)).toEqual([]);
    });
  });
}

/** Returns the child processes that run ripgrep, if the system lists them. */
const childrenOf = (parent: number): readonly string[] =>
  (existsSync('/proc') ? readdirSync('/proc') : [])
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => {
      try {
        const [, command = '', , owner] =
          /^\d+ \((.*)\) (\S) (\d+)/u.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? [];
        return Number(owner) === parent && command === 'rg' ? [name] : [];
      } catch {
        return [];
      }
    });

describe.skipIf(ripgrep === undefined)('ripgrep and the built-in search (need rg on the PATH)', () => {
  beforeEach(() => {
    engine = 'never';
    open();
  });

  it('find the same matches in any files', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '🙂', '.', '(', 'A', '\t'), maxLength: 12 });
    const content = fc
      .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
      .map(([lines, end, isEnded]) => lines.join(end) + (isEnded ? end : ''));
    const pattern = fc.constantFrom(
      'a',
      'ab',
      '^a',
      'a$',
      '.',
      '^$',
      'a.b',
      '[ab]+',
      'b|é',
      '(a|b){2}',
      '\\.',
      'é',
      '🙂',
      '\\s',
      '(?i)A',
      'x*',
      '\\ba',
      '^.{3}$',
    );
    const file = fc.constantFrom('a', 'b.ts', 'src/c.ts', 'src/d/e', '.f', 'ignored.log');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(file, content), { maxLength: 5 }),
        pattern,
        fc.nat(2),
        fc.constantFrom(undefined, '*.ts', 'src/**'),
        fc.boolean(),
        async (files, wanted, context, glob, ignoreCase) => {
          reopen({});
          bench.put('.gitignore', '*.log\n');
          for (const [path, text] of files) bench.put(path, text);
          const input = { pattern: wanted, context, ignoreCase, ...(glob !== undefined && { glob }) };
          const own = await callTool(grepTool(bench.workspace), input);
          const theirs = await callTool(grepTool({ ...bench.workspace, ripgrep: 'auto' }), input);
          // \b at a letter like é is the only difference: RE2 supports only ASCII there.
          if (wanted !== '\\ba') expect(own.text).toBe(theirs.text);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('findRipgrep', () => {
  beforeEach(() => {
    engine = 'auto';
    open();
  });
  const found = (searchPath: string, choice = 'auto') =>
    findRipgrep({ ripgrep: choice, paths: bench.workspace.paths }, searchPath);

  it('uses the first program on the PATH outside the workspace', () => {
    for (const folder of ['work/bin', 'one', 'two']) {
      mkdirSync(`${bench.base}/${folder}`);
      writeFileSync(`${bench.base}/${folder}/rg`, '#!/bin/sh\n');
      chmodSync(`${bench.base}/${folder}/rg`, folder === 'one' ? 0o644 : 0o755);
    }
    const { base } = bench;
    expect(found(`bin:.:${base}/work/bin:${base}/none:${base}/two`)).toBe(`${base}/two/rg`);
    expect(found(`${base}/work/bin`)).toBeUndefined();
    // Even root may not run a file without the executable bit.
    expect(found(`${base}/one`)).toBeUndefined();
  });

  it('uses the configured program', () => {
    expect(found('', '/opt/rg')).toBe('/opt/rg');
    expect(found('/usr/bin', 'never')).toBeUndefined();
  });

  it('fails if the configured program cannot be started', async () => {
    reopen({ ripgrep: '/nowhere/rg' });
    bench.put('a', 'x');
    const result = await grep('x');
    expect(result).toMatchObject({ status: 'failed', code: 'ripgrep-failed' });
    expect(result.text).toContain('could not be started');
  });

  it('refuses a relative path to it', () => {
    expect(() => createWorkspace({ root: bench.root, ripgrep: 'bin/rg' })).toThrow(/"ripgrep"/u);
  });
});
