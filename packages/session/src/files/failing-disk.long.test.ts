import { readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { interceptOperations } from '../../../../tooling/vitest/file-operations.js';
import { fileSessions, type FileSessions } from '../index.js';
import { inSession, messagesOf, wholeTurn, write } from '../testing/records.js';
import { backUp, backUpBytes } from './backup.js';

const openFiles = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);

/** Large enough for a snapshot after each turn. */
const textOf = (turn: number): string => `${turn} ${'x'.repeat(40_000)}`;

/** Writes three turns, and returns those that were confirmed, and the codes of the errors. */
const writeTurns = async (store: FileSessions) => {
  const [confirmed, codes]: [number[], unknown[]] = [[], []];
  const fail = ({ code }: { readonly code?: unknown }): undefined => void codes.push(code);
  for (const turn of [1, 2, 3]) {
    const open = await store.open('alice').catch(fail);
    if (!open) continue;
    await write(open, wholeTurn(`turn-${turn}`, textOf(turn))).then(() => confirmed.push(turn), fail);
    await Promise.resolve(open.close()).catch(fail);
  }
  return { confirmed, codes };
};

describe('a disk on which an operation fails', () => {
  it.each([
    ['once', 1, 'before'],
    ['once, although it was done', 1, 'after'],
    ['and all after it', Infinity, 'before'],
  ])('loses no confirmed turn, and keeps no session locked: %s', { timeout: 120_000 }, async (_, failures, when) => {
    let failed = 0;
    for (let operation = 1; ; operation += 1) {
      const directory = temporaryFolder();
      const store = fileSessions({ directory, leaseMs: 100 });
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
      const { confirmed, codes } = await writeTurns(store);
      restore();
      if (reached < operation) break;
      const label = `operation ${operation}`;
      for (const code of codes) expect(['EIO', 'session-busy'], label).toContain(code);
      failed += codes.length;
      // The lock is released when the file system works again.
      await vi.waitFor(() => inSession(store, 'alice', () => undefined), { timeout: 5_000, interval: 10 });
      await inSession(store, 'alice', (open) => write(open, wholeTurn('turn-4', 'four')));
      const found = JSON.stringify(await fileSessions({ directory }).messages('alice'));
      for (const text of [...confirmed.map(textOf), 'four']) {
        expect(found.includes(JSON.stringify(messagesOf(text)).slice(1, -1)), label).toBe(true);
      }
      expect(openFiles(), label).toBe(before);
    }
    expect(failed).toBeGreaterThan(100);
  });
});

describe('a backup on a disk on which an operation fails', () => {
  it.each([
    ['of a file', (path: string) => backUp(path, 'corrupt')],
    ['of bytes', (path: string) => backUpBytes(path, 'torn', Buffer.from('torn'))],
  ])('is complete or absent: %s', async (_, backUpNow) => {
    for (let operation = 1; ; operation += 1) {
      const folder = temporaryFolder();
      const path = join(folder, 'journal.jsonl');
      writeFileSync(path, 'records');
      let reached = 0;
      const restore = await interceptOperations(
        (count) => (reached = count),
        (count) => {
          if (count === operation) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        },
      );
      const backup = await backUpNow(path).catch(() => undefined);
      restore();
      const expected = backup === undefined ? [] : [basename(backup)];
      expect(readdirSync(folder).toSorted(), `operation ${operation}`).toEqual(['journal.jsonl', ...expected]);
      if (reached < operation) break;
    }
  });
});
