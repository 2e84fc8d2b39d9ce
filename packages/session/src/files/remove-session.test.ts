import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock, ifExists, isLockName } from '@h/files';
import { expect, it } from 'vitest';
import { interceptOperations } from '../../../../tooling/vitest/file-operations.js';
import { place, turns } from '../../test/place.js';
import { emptyHead, encodeHead, readHead } from './head.js';

/** Runs work, and fails its file operations from one on. */
const failingFrom = async <Result>(operation: number, work: () => Promise<Result>): Promise<Result> => {
  const restore = await interceptOperations((count) => {
    if (count >= operation) throw Object.assign(new Error('Input/output error'), { code: 'EIO' });
  });
  try {
    return await work();
  } finally {
    restore();
  }
};

/** A session that was deleted by a process that was killed before it had removed the files. */
const deletedSession = async () => {
  const given = await place();
  await turns(given.store, 'one');
  await writeFile(given.files.head, encodeHead({ ...emptyHead('alice'), isDeleted: true }));
  return given;
};

it('leaves the remaining files of a deleted session to the process that holds it', async () => {
  const { store, directory, files, problems } = await deletedSession();
  const lock = await acquireLock(files.path);
  expect([await store.unfinished(), problems]).toEqual([[], []]);
  expect(await readdir(files.path)).toContain('journal.jsonl');
  await lock.release();
  await store.unfinished();
  expect(await readdir(directory)).toEqual([]);
});

it('reports that the remaining files of a deleted session cannot be removed', async () => {
  const reported: unknown[] = [];
  for (let operation = 2; ; operation += 1) {
    const { store, directory, problems } = await deletedSession();
    expect(await failingFrom(operation, () => store.unfinished()), `operation ${operation}`).toEqual([]);
    if ((await readdir(directory)).length === 0) break;
    reported.push(...problems.map(({ kind }) => kind));
  }
  expect(reported.length).toBeGreaterThan(20);
  expect(new Set(reported)).toEqual(new Set(['unreadable']));
});

it('lists unfinished turns although the disk is full and a deleted session cannot be removed', async () => {
  const { store, files, problems } = await deletedSession();
  const { length } = await readdir(files.path);
  const restore = await interceptOperations(() => {
    if (readdirSync(files.path).length === length) return;
    throw Object.assign(new Error('No space left on device'), { code: 'ENOSPC' });
  });
  expect(await store.unfinished().finally(restore)).toEqual([]);
  expect(problems).toMatchObject([{ kind: 'unreadable', path: files.path }]);
});

it('rejects a deletion that is not complete', async () => {
  for (let operation = 1; ; operation += 1) {
    const { store, files } = await place();
    await turns(store, 'one');
    const error = await failingFrom(operation, () =>
      store.delete('alice').then(
        () => undefined,
        (reason: unknown) => reason,
      ),
    );
    if (error === undefined) {
      const left = (await ifExists(readdir(files.path))) ?? [];
      expect([operation > 20, left.filter((name) => !isLockName(name))]).toEqual([true, []]);
      break;
    }
    expect(error, `operation ${operation}`).toMatchObject({ code: 'EIO' });
  }
});

it('leaves a deletion that has begun to the process that takes over the session', async () => {
  const outcomes: unknown[] = [];
  for (let operation = 1; ; operation += 1) {
    const { store, files } = await place();
    await turns(store, 'one');
    const lock = join(files.path, 'lock.2');
    let isTaken = false;
    const restore = await interceptOperations((count) => {
      if (isTaken || count < operation || !existsSync(lock)) return;
      isTaken = true;
      rmSync(lock, { recursive: true });
      mkdirSync(join(files.path, 'lock.3/token'), { recursive: true });
      const owner = JSON.stringify({ host: 'elsewhere', pid: 1, leaseMs: 60_000 });
      writeFileSync(join(files.path, 'lock.3/token/owner'), owner);
    });
    const outcome = await store.delete('alice').then(
      () => 'resolved',
      ({ code }: { readonly code?: unknown }) => code,
    );
    restore();
    if (!isTaken) break;
    const head = await readHead(files).catch(() => undefined);
    if (outcome === 'resolved') expect(head?.isDeleted ?? true, `operation ${operation}`).toBe(true);
    else expect(head?.isDeleted, `operation ${operation}`).toBeUndefined();
    outcomes.push(outcome);
  }
  expect(new Set(outcomes)).toEqual(new Set(['session-busy', 'session-taken', 'resolved']));
});
