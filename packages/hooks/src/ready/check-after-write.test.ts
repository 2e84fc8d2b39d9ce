import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call, response, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRepository, type Repository } from '../../test/repository.js';
import { runTurn } from '../../test/turns.js';
import { hooks } from '../hooks.js';
import { checkAfterWrite, type CheckAfterWriteOptions } from './check-after-write.js';
import { countsOf, findingsOf, newFindings } from './findings.js';
import type { CheckRunner } from '@h/process';

let own: Repository;

/** A simple linter that reports each line that contains BAD. */
const linter = `
const { readFileSync, appendFileSync } = require('fs');
const files = process.argv.slice(2);
appendFileSync('runs.log', files.join(' ') + '\\n');
let bad = 0;
for (const file of files) {
  readFileSync(file, 'utf8').split('\\n').forEach((line, index) => {
    if (/BAD/.test(line)) { bad += 1; console.log(file + ':' + (index + 1) + ':1 error ' + line.trim()); }
  });
}
process.exit(bad > 0 ? 1 : 0);
`;

beforeEach(() => {
  own = makeRepository();
  own.write('lint.js', linter);
});
afterEach(() => own.remove());

const write = (id: string, path: string, content: string) => call(id, 'write', { path, content });

const run = async (script: readonly ScriptStep[], options: Partial<CheckAfterWriteOptions> = {}) => {
  const tools = scriptedTools({
    write: (input) => {
      const { path, content } = input as { readonly path: string; readonly content: string };
      writeFileSync(join(own.folder, path), content);
      return `Wrote ${path}.`;
    },
    read: 'text',
  });
  const ran = await runTurn([hooks([checkAfterWrite({ check: 'node lint.js {file}', cwd: own.folder, ...options })])], {
    tools,
    script: [...script, 'Done.'],
  });
  const log = join(own.folder, 'runs.log');
  return {
    outputs: ran.of('tool.result').map(({ output }) => JSON.stringify(output)),
    results: ran.of('tool.result'),
    notices: ran.of('hook.notice').map(({ message }) => message),
    failures: ran.of('hook.failed'),
    runs: existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [],
  };
};

describe('checkAfterWrite', () => {
  it('reports new findings of a change to the model', async () => {
    const { outputs } = await run([response(write('1', 'a.js', 'fine\nBAD one'))]);
    expect(outputs[0]).toContain('Wrote a.js.');
    expect(outputs[0]).toContain('new findings:\\na.js:2:1 error BAD one');
  });

  it('leaves the result unchanged without findings', async () => {
    const { outputs, notices } = await run([response(write('1', 'a.js', 'fine'))]);
    expect(outputs).toEqual(['{"type":"text","value":"Wrote a.js."}']);
    expect(notices).toEqual([]);
  });

  it('does not report earlier findings that moved', async () => {
    own.write('a.js', 'BAD old\n');
    const { outputs } = await run([
      response(write('1', 'a.js', 'new\nnew\nBAD old\n')),
      response(write('2', 'a.js', 'BAD old\nBAD new\n')),
      response(write('3', 'a.js', 'BAD new\nBAD old\n')),
    ]);
    expect(outputs[0]).not.toContain('BAD');
    expect(outputs[1]).toContain('BAD new');
    expect(outputs[1]).not.toContain('BAD old');
    expect(outputs[2]).not.toContain('BAD');
  });

  it('reports a finding again after it was fixed and reappeared', async () => {
    const { outputs } = await run([
      response(write('1', 'a.js', 'BAD')),
      response(write('2', 'a.js', 'fine')),
      response(write('3', 'a.js', 'BAD')),
    ]);
    expect(outputs.map((output) => output.includes('BAD'))).toEqual([true, false, true]);
  });

  it('checks an existing file before its first change and after each change', async () => {
    own.write('b.js', 'fine');
    const { runs } = await run([
      response(write('1', 'a.js', 'x')),
      response(write('2', 'b.js', 'x')),
      response(write('3', 'b.js', 'y')),
    ]);
    expect(runs).toEqual(['a.js', 'b.js', 'b.js', 'b.js']);
  });

  it('checks all files of a step at once', async () => {
    const { outputs, runs } = await run(
      [response(write('1', 'a.js', 'BAD a'), write('2', 'b.js', 'BAD b'), write('3', 'a.js', 'BAD c'))],
      {
        debounceMs: 600_000,
      },
    );
    expect(runs.toSorted()).toEqual(['a.js', 'b.js']);
    expect(outputs.filter((output) => output.includes('new findings'))).toHaveLength(1);
    expect(outputs.join('')).toMatch(/BAD c.*BAD b|BAD b.*BAD c/);
  });

  it('runs a project check once', async () => {
    const { runs } = await run([response(write('1', 'a.js', 'BAD a'), write('2', 'b.js', 'BAD b'))], {
      check: 'node lint.js lint.js',
    });
    expect(runs).toEqual(['lint.js', 'lint.js']);
  });

  it('checks only the given files', async () => {
    const { runs } = await run([response(write('1', 'a.md', 'BAD')), response(write('2', 'a.ts', 'BAD'))], {
      files: ['.ts'],
    });
    expect(runs).toEqual(['a.ts']);
  });

  it('ignores calls that write no file', async () => {
    own.write('a.js', 'BAD');
    expect((await run([response(call('1', 'read', { path: 'a.js' }))])).runs).toEqual([]);
    expect((await run([response(call('1', 'read', { path: 'a.js' }))], { pathOf: () => 'a.js' })).runs).toEqual([
      'a.js',
      'a.js',
    ]);
  });

  it('passes any file name as a single argument', async () => {
    const { runs, outputs } = await run([response(write('1', "it's; rm x.js", 'BAD'))]);
    expect(runs).toEqual(["it's; rm x.js"]);
    expect(outputs[0]).toContain('new findings');
  });

  it('limits the reported findings', async () => {
    const content = Array.from({ length: 100 }, (_, index) => `BAD ${index}`).join('\n');
    const { outputs } = await run([response(write('1', 'a.js', content))], { maxFindings: 3 });
    expect(outputs[0]).toContain('… and 97 more.');
    expect(outputs[0]?.match(/error BAD/g)).toHaveLength(3);
    const short = await run([response(write('1', 'c.js', content))], { maxChars: 50 });
    expect(short.outputs[0]?.length).toBeLessThan(200);
  });

  it('continues the turn when the check times out or cannot run', async () => {
    own.write('slow.js', 'setInterval(() => {}, 1000)');
    const slow = await run([response(write('1', 'a.js', 'BAD'))], { check: 'node slow.js {file}', timeoutMs: 300 });
    expect(slow.outputs).toEqual(['{"type":"text","value":"Wrote a.js."}']);
    expect(slow.notices).toEqual(['The check node slow.js a.js did not end within 300 ms.']);
    const throwing: CheckRunner = () => Promise.reject(new Error('No sandbox.'));
    const broken = await run([response(write('1', 'a.js', 'BAD'))], { run: throwing });
    expect(broken.results[0]).toMatchObject({ status: 'ok' });
    expect(broken.failures).toMatchObject([
      { effect: 'ignored', point: 'beforeTool' },
      { effect: 'ignored', point: 'afterTool' },
    ]);
  });

  it('treats output in an unknown format as one finding', async () => {
    own.write('whole.js', 'console.log("something is wrong"); process.exit(1)');
    const { outputs } = await run([response(write('1', 'a.js', 'x'))], { check: 'node whole.js {file}' });
    expect(outputs[0]).toContain('something is wrong');
  });

  it('parses the output with the given function', async () => {
    const { outputs } = await run([response(write('1', 'a.js', 'BAD'))], { findingsOf: () => ['mine'] });
    expect(outputs[0]).toContain('new findings:\\nmine');
  });

  it('creates a command for each file, or none', async () => {
    const check = (path: string) => (path === 'a.js' ? 'node lint.js a.js' : undefined);
    expect(
      (await run([response(write('1', 'a.js', 'BAD')), response(write('2', 'b.js', 'BAD'))], { check })).runs,
    ).toEqual(['a.js']);
  });

  it('stops waiting for writes that never finish', async () => {
    const { outputs } = await run(
      [response(write('1', 'a.js', 'BAD'), call('2', 'write', { path: 'no/such/folder/b.js', content: 'x' }))],
      { debounceMs: 50 },
    );
    expect(outputs.join('')).toContain('BAD');
  });

  it.each([
    {},
    { check: '' },
    { check: 1 },
    { check: 'x', file: ['.ts'] },
    { check: 'x', files: '.ts' },
    { check: 'x', maxFindings: 0 },
    { check: 'x', maxChars: 0 },
    { check: 'x', debounceMs: -1 },
    { check: 'x', timeoutMs: 0 },
    { check: 'x', run: 1 },
    { check: 'x', scheduler: 1 },
  ])('rejects %j', (options) => {
    expect(() => checkAfterWrite(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option' }) as Error,
    );
  });
});

describe('findings', () => {
  it.each([
    ['src/a.ts:10:5: error TS1: x', 1],
    ['src/a.ts(10,5): error TS1: x', 1],
    ['/work/a.js\n  1:5  error  x  no-x\n  2:1  warning  y  no-y\n\n✖ 2 problems', 2],
    ['a.py:3: error: x\na.py:4:1: E1 x\nFound 2 errors', 2],
    ['', 0],
    ['it went wrong', 1],
    ['\u{1B}[31msrc/a.ts:1:1 error\u{1B}[0m', 1],
  ])('are parsed from %j', (output, count) => {
    expect(findingsOf(output)).toHaveLength(count);
    expect(findingsOf(output).join('')).not.toContain('\u{1B}');
  });

  it('are equal on different lines, and counted per kind', () => {
    const before = countsOf(['a.ts:1:1 error x', 'a.ts:2:1 error y']);
    expect(newFindings(['a.ts:9:1 error x', 'a.ts:10:4 error y'], before)).toEqual([]);
    expect(newFindings(['a.ts:9:1 error x', 'a.ts:20:1 error x'], before)).toEqual(['a.ts:20:1 error x']);
    expect(newFindings(['b.ts:1:1 error x'], before)).toEqual(['b.ts:1:1 error x']);
  });
});
