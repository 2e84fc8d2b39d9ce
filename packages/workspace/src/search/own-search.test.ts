import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workbench } from '../../test/workbench.js';
import { compileGlob } from './glob-pattern.js';
import type { FoundFile, GrepQuery } from './grep-query.js';
import { lineMatcher } from './line-matcher.js';
import { ownSearch, searchOneFile } from './own-search.js';
import { Pace, searchText } from './search-text.js';
import { walkTree } from './walk-tree.js';

let bench: ReturnType<typeof workbench>;
beforeEach(() => (bench = workbench()));
afterEach(() => bench.remove());

const queryOf = (more: Partial<GrepQuery> = {}): GrepQuery => ({
  paths: bench.workspace.paths,
  start: bench.root,
  pattern: 'hit',
  isLiteral: false,
  ignoreCase: false,
  context: 0,
  glob: undefined,
  includeIgnored: false,
  maxPerFile: 100,
  maxLineChars: 100,
  maxFileBytes: 50_000_000,
  maxVisited: 1_000,
  signal: new AbortController().signal,
  ...more,
});

const searched = async (query: GrepQuery, engine = ownSearch) => {
  const files: FoundFile[] = [];
  const search = engine(query);
  for (let next = await search.next(); ; next = await search.next()) {
    if (next.done === true) return { files, note: next.value };
    files.push(next.value);
  }
};

describe('ownSearch', () => {
  it('stops at the limit of files and folders, and reports it', async () => {
    for (const name of ['a', 'b', 'c']) bench.put(name, 'hit');
    const { files, note } = await searched(queryOf({ maxVisited: 2 }));
    expect(files.map((file) => file.path)).toEqual([bench.at('a'), bench.at('b')]);
    expect(note).toBe('Stopped after 2 files and folders; narrow the search with path.');
  });

  it('does not enter folders in which nothing can match', async () => {
    for (const name of ['src/a', 'lib/b', 'lib/c']) bench.put(name, 'hit');
    const { files, note } = await searched(queryOf({ maxVisited: 3, glob: compileGlob('src/*') }));
    expect({ files: files.length, note }).toEqual({ files: 1, note: undefined });
  });

  it('skips lines that are too long for an expensive pattern, and reports it', async () => {
    bench.put('a', `${'x'.repeat(1_000_000)}\nhit\n`);
    bench.put('b', `${'x'.repeat(1_000_000)}hit`);
    const costly = `hit|${'[a-z]?'.repeat(50)}!`;
    const { files, note } = await searched(queryOf({ pattern: costly }));
    expect(files.map((file) => file.lines.map((line) => line.number))).toEqual([[2]]);
    expect(note).toBe('2 lines were too long for this pattern and not searched; use a simpler one, or literal.');
    expect((await searched(queryOf())).files).toHaveLength(2);
    expect((await searched(queryOf({ pattern: costly, start: bench.at('b') }), searchOneFile)).note).toContain(
      '1 line was too long',
    );
  });

  it('shows nothing outside when a folder becomes a link during the search', async () => {
    mkdirSync(`${bench.base}/outside`);
    writeFileSync(`${bench.base}/outside/file`, 'hit SECRET');
    bench.put('a/file', 'hit');
    bench.put('b/file', 'hit');
    const search = ownSearch(queryOf());
    expect((await search.next()).value).toMatchObject({ path: bench.at('a/file') });
    renameSync(bench.at('b'), bench.at('old'));
    symlinkSync('../outside', bench.at('b'));
    expect(await search.next()).toEqual({ done: true, value: undefined });
  });
});

describe('searchText', () => {
  const search = (text: string, pattern: string, more = {}) =>
    searchText(text, {
      matcher: lineMatcher({ pattern, isLiteral: false, ignoreCase: false }),
      context: 0,
      maxMatches: 100,
      maxLineChars: 100,
      pace: new Pace(new AbortController().signal),
      ...more,
    });

  it('stops at the limit of matches, and shows the context of the last one', async () => {
    const found = await search('hit\na\nb\nhit\nc\n', 'hit', { maxMatches: 1, context: 1 });
    expect(found.map((line) => `${line.number}${line.isMatch ? '!' : ''}`)).toEqual(['1!', '2']);
  });

  it('stops within a text when it is aborted', async () => {
    const controller = new AbortController();
    const searching = search('some text\n'.repeat(1_000_000), 'x$', { pace: new Pace(controller.signal) });
    // The search has begun, and must yield to notice this.
    setImmediate(() => controller.abort());
    await expect(searching).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('shows the match in a long line, even if the end of the line decides it', async () => {
    const line = `${'x'.repeat(5_000)}hit${'y'.repeat(5_000)}`;
    for (const pattern of ['hit', 'x{3}hity', 'hity*$']) {
      const [found] = await search(line, pattern, { maxLineChars: 50 });
      expect(found?.text.length).toBe(52);
      if (!pattern.endsWith('$')) expect(found?.text).toContain('hit');
    }
  });
});

describe('walkTree', () => {
  const names = async (more = {}) => {
    const found: string[] = [];
    const options = {
      paths: bench.workspace.paths,
      start: bench.root,
      includeIgnored: false,
      signal: new AbortController().signal,
      ...more,
    };
    for await (const entry of walkTree(options)) found.push(`${entry.name}${entry.kind === 'folder' ? '/' : ''}`);
    return found;
  };

  it('visits wide and deep trees depth first in the order of names', async () => {
    const files = Array.from({ length: 40 }, (_, index) => `d${String(index).padStart(2, '0')}/e/f${index}`);
    for (const file of files) bench.put(file, '');
    expect((await names()).filter((name) => !name.endsWith('/'))).toEqual(files);
    expect(await names({ enters: (name: string) => name === 'd07' })).toContain('d07/e/');
    expect(await names({ enters: (name: string) => name === 'd07' })).not.toContain('d07/e/f7');
  });

  it('skips a folder that became a link, and rules that are a link or too large', async () => {
    mkdirSync(`${bench.base}/outside`);
    writeFileSync(`${bench.base}/outside/rules`, '*\n');
    symlinkSync('../outside/rules', bench.at('.gitignore'));
    bench.put('a', '');
    expect(await names()).toEqual(['.gitignore', 'a']);
    bench.put('sub/.gitignore', `*\n${'#'.repeat(600_000)}`);
    bench.put('sub/b', '');
    expect(await names()).toContain('sub/b');
  });
});
