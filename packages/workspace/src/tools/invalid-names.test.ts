import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tool } from '@h/tools';
import { workbench } from '../../test/workbench.js';
import type { Workspace } from '../workspace.js';
import { editTool, multiEditTool } from './edit.js';
import { readTool } from './read.js';
import { writeTool } from './write.js';

const change = { old: 'before', new: 'after' };
const tools: readonly (readonly [string, (workspace: Workspace) => Tool, object])[] = [
  ['read', readTool, {}],
  ['write', writeTool, { content: 'after' }],
  ['edit', editTool, change],
  ['multi_edit', multiEditTool, { edits: [change] }],
];

/** Names with a byte that no UTF-8 has. */
const names = fc
  .tuple(fc.stringMatching(/^[a-z]{0,3}$/), fc.integer({ min: 0xf8, max: 0xff }), fc.stringMatching(/^[a-z]{0,3}$/))
  .map(([before, byte, after]) => Buffer.concat([Buffer.from(before), Buffer.from([byte]), Buffer.from(after)]));

/** macOS and Windows have no such names. */
describe.skipIf(process.platform !== 'linux')('a name that is not UTF-8', () => {
  it.each(tools)('is an error of %s that says so, and no file is made', async (_, tool, input) => {
    await fc.assert(
      fc.asyncProperty(names, fc.boolean(), async (name, isFolder) => {
        const bench = workbench();
        try {
          const path = isFolder ? Buffer.concat([name, Buffer.from('/file')]) : name;
          const file = Buffer.concat([Buffer.from(`${bench.root}/`), path]);
          mkdirSync(Buffer.from(dirname(file.toString('latin1')), 'latin1'), { recursive: true });
          writeFileSync(file, 'before');
          const result = await bench.call(tool, { path: path.toString(), ...input });
          expect(result).toMatchObject({ status: 'failed', code: 'not-utf8' });
          expect(result.text).toContain('not UTF-8');
          expect(readFileSync(file, 'utf8')).toBe('before');
          expect(readdirSync(bench.root, { encoding: 'buffer' })).toEqual([name]);
        } finally {
          bench.remove();
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is an error of no other file: one whose name has U+FFFD is read and written', async () => {
    const bench = workbench();
    bench.put('a\u{fffd}.txt', 'before');
    expect((await bench.call(readTool, { path: 'a\u{fffd}.txt' })).text).toBe('1\tbefore');
    expect((await bench.call(writeTool, { path: 'a\u{fffd}.txt', content: 'after' })).status).toBe('ok');
    bench.remove();
  });
});
