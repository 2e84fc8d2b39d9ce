import { readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { interceptOperations } from '../../../../tooling/vitest/file-operations.js';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { childRecord } from '../testing/child-record.js';
import type { ChildRecord } from '../child/record.js';
import { fileChildStore } from './file-child-store.js';

const openFiles = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);

/**
 * Saves, takes over and deletes records in two stores after each other.
 *
 * @returns the ids that must be stored, those that may be, and the codes of the errors
 */
const useStores = async (directory: string) => {
  const [stored, uncertain] = [new Set<string>(), new Set<string>()];
  const codes: unknown[] = [];
  const attempt = async (work: Promise<unknown>): Promise<boolean> => {
    try {
      await work;
      return true;
    } catch (error) {
      codes.push((error as { readonly code?: unknown }).code);
      return false;
    }
  };
  const save = async (store: ReturnType<typeof fileChildStore>, id: string): Promise<void> => {
    ((await attempt(store.save(childRecord(id)))) ? stored : uncertain).add(id);
  };
  const first = fileChildStore({ directory, leaseMs: 100 });
  for (const id of ['a', 'b', 'c']) await save(first, id);
  await attempt(first.close());
  const second = fileChildStore({ directory, leaseMs: 100 });
  let found: readonly ChildRecord[] = [];
  await attempt(second.list().then((records) => (found = records)));
  await save(second, 'd');
  // Records of a process that could not release its folder are taken over later.
  if (found.some(({ id }) => id === 'a')) {
    stored.delete('a');
    if (!(await attempt(second.delete('a')))) uncertain.add('a');
  }
  await attempt(second.list());
  await attempt(second.close());
  return { stored, uncertain, codes };
};

describe('a disk on which an operation of the store of sub-agents fails', () => {
  it.each([
    ['once', 1, 'before'],
    ['once, although it was done', 1, 'after'],
    ['and all after it', Infinity, 'before'],
  ])('loses no confirmed record, and keeps no folder locked: %s', { timeout: 60_000 }, async (_, failures, when) => {
    let failed = 0;
    for (let operation = 1; ; operation += 1) {
      const directory = temporaryFolder();
      const before = openFiles();
      let reached = 0;
      const fail = (count: number): void => {
        if (count < operation || count >= operation + failures) return;
        throw Object.assign(new Error('Input/output error'), { code: 'EIO' });
      };
      const restore = await interceptOperations(
        (count) => {
          reached = count;
          if (when === 'before') fail(count);
        },
        (count) => when === 'after' && fail(count),
      );
      const { stored, uncertain, codes } = await useStores(directory);
      restore();
      if (reached < operation) break;
      const label = `operation ${operation}`;
      for (const code of codes) expect(code, label).toBe('EIO');
      failed += codes.length;
      const third = fileChildStore({ directory, leaseMs: 100 });
      // The lock is released when the file system works again.
      await vi.waitFor(
        async () => {
          const ids = (await third.list()).map(({ id }) => id);
          for (const id of stored) expect(ids, label).toContain(id);
          for (const id of ids) expect(stored.has(id) || uncertain.has(id), `${label}: ${id}`).toBe(true);
        },
        { timeout: 2_000, interval: 20 },
      );
      await third.close();
      await vi.waitFor(
        async () => {
          const last = fileChildStore({ directory, leaseMs: 100 });
          for (const { id } of await last.list()) await last.delete(id);
          await last.close();
          const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
          // A lock that could not be prepared and removed stays until its process has ended.
          expect(
            names.filter((name) => /lock|json/.test(name)),
            label,
          ).toEqual([]);
        },
        { timeout: 2_000, interval: 20 },
      );
      expect(openFiles(), label).toBe(before);
    }
    expect(failed).toBeGreaterThan(40);
  });
});
