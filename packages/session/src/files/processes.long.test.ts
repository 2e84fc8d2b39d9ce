import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { acquireLock, inspectLock } from '@h/files';
import { SessionBusyError } from '@h/turn';
import { mkdtempSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { bundleScript } from '../../../../tooling/vitest/bundle-script.js';
import { fileSessions, SessionHeldError, type FileSessions } from '../index.js';
import { inSession, messagesOf, openTurn, wholeTurn, write } from '../testing/records.js';
import { folderOf } from './folder.js';

const root = mkdtempSync(join(tmpdir(), 'h-session-processes-'));
let script = '';
beforeAll(async () => {
  script = await bundleScript(new URL('../../test/process-child.ts', import.meta.url), root);
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Other {
  readonly process: ChildProcess;
  readonly said: Record<string, unknown>[];
  readonly ended: Promise<unknown>;
}

/** Starts a process that writes a session, through a shell command. */
const other = (work: string, directory: string, command = 'exec "$@"', given = ''): Other => {
  const child = spawn('sh', ['-c', command, 'sh', process.execPath, script, work, directory, given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const said: Record<string, unknown>[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => said.push(JSON.parse(line) as Record<string, unknown>));
  return { process: child, said, ended: once(child, 'close') };
};

const says = (one: Other, key: string): Promise<void> =>
  expect.poll(() => one.said.some((each) => key in each), { timeout: 20_000 }).toBe(true);

const opened = async (store: FileSessions): Promise<Awaited<ReturnType<FileSessions['open']>>> => {
  let open: Awaited<ReturnType<FileSessions['open']>> | undefined;
  const attempt = async (): Promise<boolean> => {
    open = await store.open('alice').catch((error: unknown) => {
      expect(error).toBeInstanceOf(SessionBusyError);
      return undefined;
    });
    return open !== undefined;
  };
  await expect.poll(attempt, { timeout: 20_000 }).toBe(true);
  return open as NonNullable<typeof open>;
};

const canMount = (): boolean => {
  try {
    execFileSync('unshare', ['--mount', 'sh', '-c', `mount -t tmpfs tmpfs ${root}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

describe('a session that another process holds', () => {
  it('is rejected with its holder, and is free once that process is killed', async () => {
    const directory = temporaryFolder();
    const store = fileSessions({ directory });
    const before = Date.now();
    const one = other('hold', directory);
    await says(one, 'holds');
    const refusal: unknown = await store.open('alice').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SessionHeldError);
    const { pid, since, message, code } = refusal as SessionHeldError;
    expect([code, pid, one.said[0]]).toEqual(['session-busy', one.process.pid, { holds: pid }]);
    expect([
      since >= before - 2000,
      since <= Date.now() + 2000,
      message.includes(`process ${pid} on`),
      message.includes(new Date(since).toISOString()),
    ]).toEqual([true, true, true, true]);
    await expect(store.delete('alice')).rejects.toBeInstanceOf(SessionHeldError);
    expect([await store.unfinished(), (await store.list()).map(({ state }) => state)]).toEqual([[], ['running']]);
    one.process.kill('SIGKILL');
    await one.ended;
    expect((await store.unfinished()).map(({ turn }) => turn)).toEqual(['turn-1']);
    expect(await inSession(store, 'alice', ({ journal }) => journal.length)).toBe(6);
  });
});

describe('a session that several processes open', () => {
  it('contains every confirmed turn once, even if one of them is killed', async () => {
    const directory = temporaryFolder();
    const others = Array.from({ length: 3 }, () => other('compete', directory));
    const [victim] = others;
    await expect.poll(() => victim?.said.length, { timeout: 60_000, interval: 5 }).toBeGreaterThanOrEqual(3);
    victim?.process.kill('SIGKILL');
    await Promise.all(others.map(({ ended }) => ended));
    const store = fileSessions({ directory });
    const archived: string[] = [];
    for await (const { turn, messages, outcome } of store.archive('alice')) {
      if (outcome !== 'completed') continue;
      archived.push(turn);
      expect(messages).toEqual(messagesOf(turn));
    }
    const confirmed = others.flatMap(({ said }) => said.map(({ wrote }) => wrote));
    expect(confirmed.length).toBeGreaterThanOrEqual(2 * 12 + 3);
    expect(new Set(archived).size).toBe(archived.length);
    expect(confirmed.filter((turn) => !archived.includes(String(turn)))).toEqual([]);
  }, 90_000);
});

describe.skipIf(process.platform === 'win32')('a process that is suspended past its lease', () => {
  it.each(['oversleep-before', 'oversleep-within'])(
    'writes nothing that is read, and reports the process that took over: %s its write',
    async (work) => {
      const directory = temporaryFolder();
      const store = fileSessions({ directory, fsync: 'never' });
      const late = other(work, directory);
      await says(late, 'sleeps');
      const open = await opened(store);
      // All confirmed records are in the session.
      expect(open.journal).toHaveLength(late.said.filter((each) => 'confirmed' in each).length);
      await write(open, wholeTurn('turn-2', 'two'));
      const { journal, head } = folderOf(directory, 'alice');
      const before = await readFile(journal, 'utf8');
      late.process.kill('SIGCONT');
      await says(late, 'closed');
      await late.ended;
      expect(late.said.find((each) => 'code' in each)).toMatchObject({
        code: 'session-taken',
        message: expect.stringContaining(`by process ${process.pid} on `) as string,
      });
      expect(await readFile(journal, 'utf8')).toBe(before);
      await write(open, openTurn('turn-3', 'three'));
      await open.close();
      expect(JSON.parse(await readFile(head, 'utf8'))).toMatchObject({ turns: 3, latest: { turn: 'turn-3' } });
      expect(await store.messages('alice')).toEqual(['one', 'two', 'three'].flatMap(messagesOf));
    },
  );
});

describe.skipIf(process.platform === 'win32')(
  'a process that is suspended past its lease right before it replaces a file',
  () => {
    /** Leaves a lock of another machine that is no longer renewed. */
    const leaveLock = async (folder: string, generation: number): Promise<void> => {
      const holding = join(folder, `lock.${generation}`, 'token');
      await mkdir(holding, { recursive: true });
      await writeFile(join(holding, 'owner'), JSON.stringify({ host: 'far away', pid: 1, leaseMs: 0 }));
    };

    /** Writes a turn, resumes the suspended process, and writes another turn. */
    const writeAndWake = async (late: Other, store: FileSessions): Promise<void> => {
      await says(late, 'sleeps');
      const open = await opened(store);
      await write(open, wholeTurn('turn-2', 'two'));
      late.process.kill('SIGCONT');
      await says(late, 'closed');
      await late.ended;
      await write(open, wholeTurn('turn-3', 'three'));
      await open.close();
    };

    it('keeps the records of others during its takeover, and reports the holder', async () => {
      const directory = temporaryFolder();
      const store = fileSessions({ directory });
      await inSession(store, 'alice', (open) => write(open, wholeTurn('turn-1', 'one')));
      await leaveLock(folderOf(directory, 'alice').path, 2);
      const late = other('oversleep-opening', directory);
      await writeAndWake(late, store);
      expect(late.said).toContainEqual({
        code: 'session-taken',
        message: expect.stringContaining(`by process ${process.pid} on `) as string,
      });
      expect(await store.messages('alice')).toEqual(['one', 'two', 'three'].flatMap(messagesOf));
      expect((await readdir(folderOf(directory, 'alice').path)).toSorted()).toEqual([
        'head.json',
        'journal.jsonl',
        expect.stringMatching(/^lock\.\d+$/),
      ]);
    });

    it('keeps the records of others while it repairs the journal', async () => {
      const directory = temporaryFolder();
      const store = fileSessions({ directory });
      const { journal } = folderOf(directory, 'alice');
      for (const text of ['x'.repeat(1_500_000), 'latest']) {
        await inSession(store, 'alice', (open) => write(open, wholeTurn(`turn-${text.slice(0, 9)}`, text)));
      }
      await inSession(store, 'alice', () => undefined);
      await truncate(journal, 100);
      await writeAndWake(other('oversleep-opening', directory), store);
      expect((await store.messages('alice')).slice(2)).toEqual(['two', 'three'].flatMap(messagesOf));
    });

    it('keeps the records of others while it closes a session whose disk failed', async () => {
      const directory = temporaryFolder();
      const store = fileSessions({ directory });
      const late = other('oversleep-closing', directory);
      await writeAndWake(late, store);
      expect(late.said.filter((each) => 'code' in each)).toEqual([{ code: 'EIO', message: 'The disk fails.' }]);
      expect(await store.messages('alice')).toEqual(['one', 'two', 'three'].flatMap(messagesOf));
    });

    it.each(['oversleep-deletion-first', 'oversleep-deletion-later'])(
      'writes nothing to a session that was deleted and started again (%s)',
      async (work) => {
        const directory = temporaryFolder();
        const store = fileSessions({ directory, fsync: 'never' });
        const late = other(work, directory);
        await says(late, 'sleeps');
        await expect
          .poll(
            () =>
              store.delete('alice').then(
                () => true,
                () => false,
              ),
            { timeout: 20_000 },
          )
          .toBe(true);
        await writeAndWake(late, store);
        expect(await store.messages('alice')).toEqual(['two', 'three'].flatMap(messagesOf));
        expect(JSON.parse(await readFile(folderOf(directory, 'alice').head, 'utf8'))).toMatchObject({
          turns: 2,
          firstInput: 'two',
          latest: { turn: 'turn-3' },
        });
      },
    );

    it('writes to no file in use, even if the new holder died before it made a copy', async () => {
      const directory = temporaryFolder();
      const store = fileSessions({ directory, fsync: 'never' });
      const late = other('oversleep-within', directory);
      await says(late, 'sleeps');
      const { path } = folderOf(directory, 'alice');
      await expect.poll(() => inspectLock(path), { timeout: 20_000 }).toBeUndefined();
      for (let took = 0; took < 2; took += 1) {
        await (await acquireLock(path)).release();
      }
      await writeAndWake(late, store);
      expect(await store.messages('alice')).toEqual(['one', 'two', 'three'].flatMap(messagesOf));
    });
  },
);

describe.skipIf(process.platform === 'win32')(
  'a process that is suspended past its lease while it deletes a session',
  () => {
    it('removes nothing that was written since, at whichever operation it was suspended', async () => {
      let suspended = 0;
      const suspendAt = async (operation: number): Promise<void> => {
        const directory = temporaryFolder();
        const store = fileSessions({ directory, fsync: 'never' });
        await inSession(store, 'alice', (open) => write(open, wholeTurn('turn-1', 'one')));
        const late = other('oversleep-delete', directory, 'exec "$@"', String(operation));
        await expect.poll(() => late.said.length, { timeout: 20_000 }).toBeGreaterThan(0);
        if (!late.said.some((each) => 'sleeps' in each)) return;
        suspended += 1;
        const open = await opened(store);
        await write(open, wholeTurn('turn-2', 'two'));
        const timer = setInterval(() => late.process.kill('SIGCONT'), 20);
        await late.ended;
        clearInterval(timer);
        await write(open, wholeTurn('turn-3', 'three'));
        await open.close();
        const found = await store.messages('alice');
        expect(found.slice(-4), `operation ${operation}`).toEqual(['two', 'three'].flatMap(messagesOf));
        // It was deleted earlier or not at all.
        expect([0, 2], `operation ${operation}`).toContain(found.length - 4);
      };
      for (let operation = 1; operation <= 48; operation += 6) {
        await Promise.all([0, 1, 2, 3, 4, 5].map((more) => suspendAt(operation + more)));
      }
      expect(suspended).toBeGreaterThan(20);
      expect(suspended).toBeLessThan(48);
    }, 60_000);
  },
);

describe('a process that runs out of', () => {
  it('disk space ends the turn, can still read, and keeps confirmed records', async (context) => {
    context.skip(!canMount(), 'no file system can be mounted here');
    const directory = temporaryFolder();
    const one = other(
      'fill',
      join(directory, 'sessions'),
      `exec unshare --mount sh -c 'mount -t tmpfs -o size=1m tmpfs ${directory} && exec "$@"' sh "$@"`,
    );
    await one.ended;
    const [failure, result] = one.said;
    expect(failure).toMatchObject({ code: 'ENOSPC' });
    expect(result).toMatchObject({ state: 'unfinished', readWhileFull: 1 });
    expect(result?.['found']).toBe(result?.['confirmed']);
    expect(Number(result?.['confirmed'])).toBeGreaterThan(5);
    expect(result?.['after']).toBe(3);
  });

  it('write permission can read but begins no turn', async (context) => {
    context.skip(!canMount(), 'no file system can be mounted here');
    const directory = temporaryFolder();
    const one = other(
      'freeze',
      directory,
      `exec unshare --mount sh -c 'mount -t tmpfs -o size=1m tmpfs ${directory} && exec "$@"' sh "$@"`,
    );
    await one.ended;
    const refusal = { code: 'EROFS', message: expect.stringContaining(directory) as string };
    expect(one.said).toMatchObject([
      { refused: refusal, deleted: refusal, turns: ['turn-1'], unfinished: 1, states: ['unfinished'], messages: 2 },
    ]);
  });

  it('file handles fails, and leaves the session free for later', async (context) => {
    context.skip(process.platform === 'win32', 'no limit on file handles');
    const directory = temporaryFolder();
    await mkdir(join(directory, 'sessions'));
    const one = other('starve', join(directory, 'sessions'), 'ulimit -n 60; exec "$@"');
    await one.ended;
    const codes = one.said[0]?.['codes'] as readonly unknown[];
    expect(one.said[0]).toMatchObject({ isFree: true });
    expect(new Set(codes)).toEqual(new Set(['EMFILE', 'opened']));
    expect([codes[0], codes.at(-1)]).toEqual(['EMFILE', 'opened']);
  });
});
