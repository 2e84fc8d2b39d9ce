import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hashCall } from './subject.js';
import { describeApprovalStore } from '../testing/index.js';
import { fileApprovalStore } from './file-store.js';
import { isCovered, memoryApprovalStore, type RememberedApproval } from './store.js';

const rule = (pattern: string, tool = 'bash'): RememberedApproval => ({ tool, pattern, at: 0 });

describe('isCovered', () => {
  it('requires the same tool, and the pattern or the exact call', () => {
    const call = { name: 'bash', input: { command: 'git push' } };
    const exact: RememberedApproval = { tool: 'bash', hash: hashCall(call), at: 0 };
    expect(isCovered([rule('git push')], call)).toBeDefined();
    expect(isCovered([rule('git push', 'sh')], call)).toBeUndefined();
    expect(isCovered([exact], call)).toBe(exact);
    expect(isCovered([exact], { name: 'bash', input: { command: 'git push', cwd: '/' } })).toBeUndefined();
    expect(isCovered([{ tool: 'bash', at: 0 }], call)).toBeUndefined();
  });
});

describe('hashCall', () => {
  it('ignores the order of keys, and differs for different names or inputs', () => {
    expect(hashCall({ name: 'a', input: { x: 1, y: [1, { z: null }] } })).toBe(
      hashCall({ name: 'a', input: { y: [1, { z: null }], x: 1 } }),
    );
    expect(hashCall({ name: 'a', input: { x: 1 } })).not.toBe(hashCall({ name: 'b', input: { x: 1 } }));
    expect(hashCall({ name: 'a', input: { x: '1' } })).not.toBe(hashCall({ name: 'a', input: { x: 1 } }));
    expect(hashCall({ name: 'a', input: { x: new Map() } })).toBeUndefined();
  });
});

describe('memoryApprovalStore', () => {
  describeApprovalStore((options) => ({ store: memoryApprovalStore(options) }));

  it('rejects an unknown option', () => {
    expect(() => memoryApprovalStore({ max: 1 } as never)).toThrow('max');
  });
});

describe('fileApprovalStore', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rules-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  describeApprovalStore((options) => {
    const path = join(folder, 'shared.json');
    return { store: fileApprovalStore({ path, ...options }) };
  });

  it('stores rules in an owner-only file, atomically', async () => {
    const path = join(folder, 'deep', 'rules.json');
    const rules = fileApprovalStore({ path, maxRules: 3 });
    expect(await rules.list()).toEqual([]);
    await Promise.all(['a', 'b', 'b', 'c', 'd'].map(async (pattern) => rules.add(rule(pattern))));
    expect((await fileApprovalStore({ path }).list()).map(({ pattern }) => pattern)).toEqual(['b', 'c', 'd']);
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect(await readdir(join(folder, 'deep'))).toEqual(['rules.json']);
  });

  it('fails for an invalid file without changing it', async () => {
    const path = join(folder, 'rules.json');
    await writeFile(path, '{"version":1,"rules":[{"tool":7}]}');
    const rules = fileApprovalStore({ path });
    await expect(rules.list()).rejects.toMatchObject({ code: 'approval-store' });
    await expect(rules.add(rule('a'))).rejects.toMatchObject({ code: 'approval-store' });
    expect(await readFile(path, 'utf8')).toContain('7');
  });

  it.each([[{}], [{ path: '' }], [{ path: 'a', mode: 1 }]])('rejects %j', (options) => {
    expect(() => fileApprovalStore(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option' }) as Error,
    );
  });
});
