import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RememberedApproval } from '../approvals/store.js';
import { describeApprovalStore } from '../testing/index.js';
import { fileApprovalStore } from './approval-store.js';

const rule = (pattern: string): RememberedApproval => ({ tool: 'bash', pattern, at: 0 });

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
    expect(await readdir(join(folder, 'deep'))).toEqual(['rules.json', 'rules.json.lock']);
  });

  it('loses no rule of stores that change the file at once', async () => {
    const path = join(folder, 'rules.json');
    const patterns = Array.from({ length: 12 }, (_, index) => `command ${index}`);
    await Promise.all(patterns.map(async (pattern) => fileApprovalStore({ path }).add(rule(pattern))));
    const found = (await fileApprovalStore({ path }).list()).map(({ pattern }) => pattern ?? '');
    expect(found.toSorted()).toEqual(patterns.toSorted());
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
