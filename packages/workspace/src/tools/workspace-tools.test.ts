import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRegistry, toolDriver } from '@h/tools';
import { harness, reply } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callTool } from '../../test/workbench.js';
import { createWorkspace, type WorkspaceOptions } from '../workspace.js';
import { workspaceTools, type WorkspaceToolsOptions } from './workspace-tools.js';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'h-workspace-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const names = (options: Partial<WorkspaceToolsOptions> = {}) =>
  workspaceTools({ root, ...options }).tools.map((tool) => tool.name);

describe('workspaceTools', () => {
  it('registers its tools', () => {
    const files = ['edit', 'glob', 'grep', 'multi_edit', 'read', 'write'];
    expect(
      createRegistry()
        .register(workspaceTools({ root }))
        .list()
        .map((tool) => tool.name),
    ).toEqual(files);
  });

  it('declares the paths of every tool', () => {
    const definitions = toolDriver(createRegistry().register(workspaceTools({ root }))).definitions();
    const declared = definitions.map(({ name, paths }) => [name, paths]);
    const [read, write] = [['path'], ['path']];
    expect(Object.fromEntries(declared)).toEqual({
      edit: { root, read, write },
      glob: { root, read },
      grep: { root, read },
      multi_edit: { root, read, write },
      read: { root, read },
      write: { root, read, write },
    });
  });

  it('provides only reading tools to a read-only toolset', () => {
    const driver = toolDriver(createRegistry().register(workspaceTools({ root })), { toolset: 'read-only' });
    expect(driver.definitions().map((definition) => definition.name)).toEqual(['glob', 'grep', 'read']);
  });

  it.runIf(process.platform === 'linux').each(['auto', 'never'])(
    'leaves no file or folder open, with ripgrep: %s',
    async (ripgrep) => {
      writeFileSync(join(root, 'a'), 'one\n');
      mkdirSync(join(root, 'folder'));
      const tools = new Map(workspaceTools({ root, ripgrep }).tools.map((tool) => [tool.name, tool]));
      const open = () =>
        readdirSync('/proc/self/fd').flatMap((name) => {
          try {
            const target = readlinkSync(`/proc/self/fd/${name}`);
            return target.startsWith(root) ? [target] : [];
          } catch {
            return [];
          }
        });
      for (const [name, input] of [
        ['read', { path: 'a' }],
        ['read', { path: 'folder' }],
        ['read', { path: 'missing' }],
        ['write', { path: 'new/b', content: 'b' }],
        ['edit', { path: 'a', old: 'one', new: 'two' }],
        ['edit', { path: 'a', old: 'absent', new: 'x' }],
        ['glob', { pattern: '**' }],
        ['grep', { pattern: 'two' }],
        ['grep', { pattern: 'two', path: 'a' }],
        ['grep', { pattern: '(' }],
      ] as const) {
        const tool = tools.get(name);
        if (tool) await callTool(tool, input);
        expect(open(), name).toEqual([]);
      }
    },
  );

  it('edits a file that an earlier call of the turn has read', async () => {
    writeFileSync(join(root, 'a.ts'), 'const a = 1;\n');
    const model = scriptedModel([
      response(call('1', 'grep', { pattern: 'const' }), call('2', 'read', { path: 'a.ts' })),
      response(call('3', 'edit', { path: 'a.ts', old: '1', new: '2' }), call('4', 'read', { path: './a.ts' })),
      'Done.',
    ]);
    const agent = harness({ model, tools: toolDriver(createRegistry().register(workspaceTools({ root }))) }).pipe();
    const { text, messages } = await reply(agent.turn({ session: 'alice', input: 'Make it 2.' }));
    expect(text).toBe('Done.');
    expect(readFileSync(join(root, 'a.ts'), 'utf8')).toBe('const a = 2;\n');
    expect(JSON.stringify(messages)).toContain('1\\tconst a = 2;');
  });

  it('rejects unknown options', () => {
    expect(() => names({ roots: [] } as never)).toThrow(/unknown option "roots"/u);
    expect(() => names({ git: { repository: {} } } as never)).toThrow(/unknown option "git"/u);
  });
});

describe('createWorkspace', () => {
  it.each([
    [{ limits: { maxLines: 5 } }, 'limits.maxLines'],
    [{ limits: { maxReadLines: 0 } }, 'limits.maxReadLines'],
    [{ requireRead: 'never' }, 'requireRead'],
    [{ ripgrep: 'rg' }, 'ripgrep'],
    [{ permissions: { allowWrites: true } }, 'permissions.allowWrites'],
    [{ root: undefined }, 'root'],
    [{ git: { repository: '.' } }, 'git'],
  ])('refuses %j', (options, option) => {
    expect(() => createWorkspace({ root, ...options } as WorkspaceOptions)).toThrow(
      expect.objectContaining({ code: 'invalid-option', option }),
    );
  });
});
