import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workbench } from '../../test/workbench.js';
import { globTool } from './glob.js';

let bench: ReturnType<typeof workbench>;
beforeEach(() => (bench = workbench()));
afterEach(() => bench.remove());

const glob = (pattern: string, more = {}) => bench.call(globTool, { pattern, ...more });
const paths = async (pattern: string, more = {}) => (await glob(pattern, more)).text.split('\n');
const put = (...names: readonly string[]) => names.forEach((name) => bench.put(name, ''));

describe('glob', () => {
  it('lists matching paths from the root in the order of names', async () => {
    put('b.ts', 'a.ts', 'src/z.ts', 'src/.hidden.ts', 'src/日本.ts', 'a.md', 'a-b/x.ts');
    expect(await paths('*.ts')).toEqual(['a-b/x.ts', 'a.ts', 'b.ts', 'src/.hidden.ts', 'src/z.ts', 'src/日本.ts']);
    expect(await paths('./*.ts')).toEqual(['a.ts', 'b.ts']);
    expect(await paths('src/**')).toEqual(['src/.hidden.ts', 'src/z.ts', 'src/日本.ts']);
    expect((await glob('*.md')).details).toEqual({ kind: 'glob', pattern: '*.md', path: '.', count: 1, isCut: false });
  });

  it('searches only the given folder, and accepts absolute patterns below it', async () => {
    put('a.ts', 'src/a.ts', 'src/lib/b.ts');
    expect(await paths('*.ts', { path: 'src' })).toEqual(['src/a.ts', 'src/lib/b.ts']);
    expect(await paths('lib/*', { path: './src/' })).toEqual(['src/lib/b.ts']);
    expect(await paths(`${bench.root}/src/*.ts`)).toEqual(['src/a.ts']);
    expect(await paths(`${bench.root}/*.ts`)).toEqual(['a.ts']);
  });

  it('lists folders for a pattern that ends with a slash', async () => {
    put('src/lib/a', 'test/b', 'file');
    expect(await paths('*/')).toEqual(['src/', 'src/lib/', 'test/']);
    expect(await paths('./*/')).toEqual(['src/', 'test/']);
  });

  it('reports that nothing matches', async () => {
    expect(await glob('*.none')).toMatchObject({ status: 'ok', text: 'No path matches.', details: { count: 0 } });
  });

  it('omits ignored files unless includeIgnored is set', async () => {
    put(
      'a.log',
      'keep.log',
      'src/b.log',
      'src/out/c.ts',
      'dist/d.ts',
      'src/dist/e.ts',
      'A.LOG',
      '.git/config',
      'src/.git/x',
      'deep/node_modules/m/i.js',
    );
    bench.put('.gitignore', '*.log\n!keep.log\n/dist/\nnode_modules\n# comment\n');
    bench.put('src/.gitignore', 'out/\n!b.log\n');
    expect(await paths('**/*')).toEqual([
      '.gitignore',
      'A.LOG',
      'keep.log',
      'src/.gitignore',
      'src/b.log',
      'src/dist/e.ts',
    ]);
    const all = await paths('**/*', { includeIgnored: true });
    expect(all).toContain('deep/node_modules/m/i.js');
    expect(all).toContain('dist/d.ts');
    expect(all.filter((path) => path.includes('.git/'))).toEqual([]);
  });

  it('searches an ignored folder that is named, and applies the rules above others', async () => {
    bench.put('.gitignore', 'node_modules\n*.log\n');
    put('node_modules/m/index.js', 'src/a.log', 'src/a.js');
    expect(await paths('*.js', { path: 'node_modules/m' })).toEqual(['node_modules/m/index.js']);
    expect(await paths('**/*', { path: 'src' })).toEqual(['src/a.js']);
  });

  it('ignores the same files as git', async () => {
    bench.put(
      '.gitignore',
      '*.o\n!important.o\n/root-only\nbuild/\ndoc/*.txt\n**/cache/**\nfoo/**/bar\n\\#hash\ntrail \\ \n[ab]x\n*.t?p\n',
    );
    bench.put('sub/.gitignore', '/local\n!build/\n*.md\n');
    put(
      'a.o',
      'important.o',
      'x/a.o',
      'root-only',
      'x/root-only',
      'build/f',
      'x/build/f',
      'sub/build/f',
      'sub/build/f.o',
      'doc/a.txt',
      'doc/x/a.txt',
      'x/doc/a.txt',
      'cache/a',
      'x/cache/y/z',
      'foo/bar',
      'foo/x/y/bar/z',
      '#hash',
      'ax',
      'cx',
      'q.tmp',
      'sub/local',
      'sub/x/local',
      'sub/a.md',
      'a.md',
      'Build/f',
      'ünï.o',
    );
    execFileSync('git', ['init', '-q'], { cwd: bench.root });
    const listed = execFileSync('git', ['-c', 'core.quotePath=false', 'ls-files', '-o', '--exclude-standard', '-z'], {
      cwd: bench.root,
      encoding: 'utf8',
    });
    expect((await paths('**/*')).toSorted()).toEqual(
      listed
        .split('\0')
        .filter((name) => name !== '')
        .toSorted(),
    );
  });

  it('lists links without following them', async () => {
    mkdirSync(`${bench.base}/outside`);
    writeFileSync(`${bench.base}/outside/secret.ts`, '');
    put('src/a.ts');
    symlinkSync('../outside', bench.at('out.ts'));
    symlinkSync('.', bench.at('loop'));
    symlinkSync('nothing', bench.at('dangling.ts'));
    expect(await paths('*.ts')).toEqual(['dangling.ts', 'out.ts', 'src/a.ts']);
    expect(await paths('loop/**')).toEqual(['No path matches.']);
    expect(await glob('*', { path: 'out.ts' })).toMatchObject({ status: 'failed', code: 'link-outside' });
  });

  it('omits files that may not be read', async () => {
    bench.remove();
    bench = workbench({ permissions: { read: { deny: ['private'] } } });
    put('.env', '.env.example', 'private/a', 'a');
    expect(await paths('*')).toEqual(['.env.example', 'a']);
    expect(await glob('*', { path: 'private' })).toMatchObject({ code: 'not-permitted' });
  });

  it('skips folders that cannot be read', async () => {
    put('open/a', 'shut/b');
    chmodSync(bench.at('shut'), 0);
    // Root can read everything; the search must continue.
    expect(await paths('*')).toContain('open/a');
    chmodSync(bench.at('shut'), 0o700);
  });

  it('escapes control characters in names', async () => {
    put('a\u001b[31m\nb.ts');
    expect(await paths('*.ts')).toEqual(['a\\u{1b}[31m\\u{a}b.ts']);
  });

  it('stops at its limits and reports it', async () => {
    bench.remove();
    bench = workbench({ limits: { maxGlobResults: 3 } });
    put('1', '2', '3', '4');
    expect(await glob('*')).toMatchObject({
      text: '1\n2\n3\n[These are the first 3; more match. Use a narrower pattern or path.]',
      details: { count: 3, isCut: true },
    });
    expect((await glob('[123]')).details).toMatchObject({ count: 3, isCut: false });
    bench.remove();
    bench = workbench({ limits: { maxOutputBytes: 5 } });
    put('1', '2', '3');
    expect(await paths('*')).toEqual([
      '1',
      '2',
      '[These are the first 2; more match. Use a narrower pattern or path.]',
    ]);
    bench.remove();
    bench = workbench({ limits: { maxVisited: 2 } });
    put('a/1', '2', '3');
    expect(await paths('*')).toEqual(['2', '3', '[Stopped after 2 files and folders; narrow the search with path.]']);
  });

  it.each([
    ['', 'is empty'],
    ['../*', '..'],
    ['{a,b}'.repeat(9), '256'],
  ])('refuses the pattern %j', async (pattern, said) => {
    const result = await glob(pattern);
    expect(result).toMatchObject({ status: 'failed', code: 'invalid-pattern' });
    expect(result.text).toContain(said);
  });

  it('fails if the folder does not exist', async () => {
    put('file');
    expect(await glob('*', { path: 'missing' })).toMatchObject({ code: 'not-found', text: 'missing does not exist.' });
    expect(await glob('*', { path: 'file' })).toMatchObject({ code: 'not-a-folder', text: 'file is not a folder.' });
    expect(await glob('*', { path: '..' })).toMatchObject({ code: 'outside' });
  });

  it('stops when it is aborted', async () => {
    put('a', 'b');
    const context = {
      call: { id: '1', name: 'glob' },
      turn: 't',
      session: 's',
      step: 1,
      signal: AbortSignal.abort(),
      progress: () => undefined,
    };
    await expect(globTool(bench.workspace).run({ pattern: '*' }, context)).rejects.toMatchObject({
      name: 'AbortError',
    });
  });
});
