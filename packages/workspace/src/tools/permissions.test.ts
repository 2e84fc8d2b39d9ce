import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callTool, workbench } from '../../test/workbench.js';
import { createWorkspace, type WorkspaceOptions } from '../workspace.js';
import { editTool } from './edit.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { readTool } from './read.js';
import { writeTool } from './write.js';

let bench: ReturnType<typeof workbench>;
const open = (options: Omit<WorkspaceOptions, 'root'>) => {
  bench = workbench(options);
  mkdirSync(`${bench.base}/skills`);
  writeFileSync(`${bench.base}/skills/SKILL.md`, 'skill');
};
beforeEach(() => open({}));
afterEach(() => bench.remove());
const reopen = (options: Omit<WorkspaceOptions, 'root'>) => {
  bench.remove();
  open(options);
};
const skill = '../skills/SKILL.md';

describe('the tools', () => {
  it('allow reading in further roots, but not writing', async () => {
    expect(await bench.call(readTool, { path: skill })).toMatchObject({ code: 'outside' });
    const workspace = createWorkspace({ root: bench.root, readOnlyRoots: [`${bench.base}/skills`] });
    expect(await callTool(readTool(workspace), { path: skill })).toMatchObject({ status: 'ok', text: '1\tskill' });
    expect(await callTool(writeTool(workspace), { path: skill, content: 'x' })).toMatchObject({ code: 'read-only' });
  });

  it('ask about each path outside once per call, and show it in full', async () => {
    const asked: string[] = [];
    reopen({ externalDirectory: 'ask', ask: ({ path, access }) => (asked.push(access), path.endsWith('.md')) });
    expect(await bench.call(readTool, { path: skill })).toMatchObject({
      status: 'ok',
      text: '1\tskill',
      details: { path: `${bench.base}/skills/SKILL.md` },
    });
    expect(await bench.call(editTool, { path: skill, old: 'skill', new: 'better skill' })).toMatchObject({
      status: 'ok',
    });
    expect(readFileSync(`${bench.base}/skills/SKILL.md`, 'utf8')).toBe('better skill');
    expect(await bench.call(grepTool, { pattern: 'skill', path: '../skills' })).toMatchObject({ code: 'not-approved' });
    expect(asked).toEqual(['read', 'write', 'read']);
  });

  it('treat paths outside like those inside if they are allowed', async () => {
    reopen({ externalDirectory: 'allow' });
    writeFileSync(`${bench.base}/skills/.gitignore`, 'x\n');
    writeFileSync(`${bench.base}/skills/x`, 'skill');
    expect((await bench.call(globTool, { pattern: '*.md', path: '../skills' })).text).toBe(
      `${bench.base}/skills/SKILL.md`,
    );
    expect((await bench.call(grepTool, { pattern: 'skill', path: '../skills', filesOnly: true })).text).toBe(
      `${bench.base}/skills/SKILL.md`,
    );
    expect(await bench.call(writeTool, { path: '../skills/new/x', content: 'x' })).toMatchObject({ status: 'ok' });
  });

  it('deny writing if it is disabled', async () => {
    reopen({ permissions: { allowWrite: false } });
    bench.put('a', 'x');
    expect(await bench.call(writeTool, { path: 'b', content: 'x' })).toMatchObject({ code: 'read-only' });
    expect(await bench.call(editTool, { path: 'a', old: 'x', new: 'y' })).toMatchObject({ code: 'read-only' });
    expect(await bench.call(readTool, { path: 'a' })).toMatchObject({ status: 'ok' });
  });

  it('report the resources of a call: a file, a folder, nothing, or unknown', () => {
    bench.put('src/a', '');
    expect(readTool(bench.workspace).resources({ path: './src/../src/a' })).toEqual([`file:${bench.at('src/a')}`]);
    expect(editTool(bench.workspace).resources({ path: 'src/a' })).toEqual([`file:${bench.at('src/a')}`]);
    expect(globTool(bench.workspace).resources({ pattern: '*' })).toEqual([`file:${bench.root}`]);
    expect(grepTool(bench.workspace).resources({ pattern: 'x', path: 'src' })).toEqual([`file:${bench.at('src')}`]);
    expect(writeTool(bench.workspace).resources({ path: skill })).toEqual([]);
    reopen({ externalDirectory: 'ask', ask: () => true });
    expect(writeTool(bench.workspace).resources({ path: skill })).toBeUndefined();
  });
});
