import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import type { ChildStore } from '../index.js';
import { memoryChildStore } from '../../test/memory-child-store.js';
import { childRecord, describeChildStore } from '../testing/index.js';
import { fileChildStore, type FileChildStore } from './index.js';
import type { ChildStoreProblem } from './file-child-store.js';

const open = (directory: string, more: object = {}): FileChildStore => {
  const store = fileChildStore({ directory, ...more });
  onTestFinished(() => store.close());
  return store;
};

const idsIn = async (store: ChildStore): Promise<readonly string[]> =>
  (await store.list()).map(({ id }) => id).toSorted();

/** The file that names the holder of a folder. */
const ownerIn = async (folder: string): Promise<string> => {
  const [token = ''] = await readdir(join(folder, 'lock.1'));
  return join(folder, 'lock.1', token, 'owner');
};

const processFolders = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory)).filter((name) => name.startsWith('process-')).map((name) => join(directory, name));

describe('memoryChildStore', () => {
  describeChildStore(() => ({ store: memoryChildStore() }));
});

describe('fileChildStore', () => {
  describeChildStore(async () => {
    const directory = join(temporaryFolder(), 'deep/er');
    const store = open(directory);
    return {
      store,
      next: async () => {
        await store.close();
        return open(directory);
      },
    };
  });

  it('hands its records to the next store once it is closed, and removes an empty folder', async () => {
    const directory = temporaryFolder();
    const first = open(directory);
    await first.save(childRecord('a'));
    const second = open(directory);
    expect(await idsIn(second)).toEqual([]);
    await first.close();
    await expect(first.save(childRecord('b'))).rejects.toMatchObject({ code: 'store-closed' });
    expect(await idsIn(second)).toEqual(['a']);
    expect(await processFolders(directory)).toHaveLength(1);
    await second.delete('a');
    await second.close();
    expect(await readdir(directory)).toEqual([]);
  });

  it('leaves unwanted records to other processes', async () => {
    const directory = temporaryFolder();
    const first = open(directory);
    await first.save(childRecord('a', { root: 'alice' }));
    await first.save(childRecord('b', { root: 'bob' }));
    await first.close();
    const [second, third] = [open(directory), open(directory)];
    expect((await second.list(({ root }) => root === 'bob')).map(({ id }) => id)).toEqual(['b']);
    expect(await idsIn(third)).toEqual(['a']);
  });

  it('leaves the latest unwanted records up to mostLeft, and removes the others', async () => {
    const directory = temporaryFolder();
    for (const [index, root] of ['alice', 'bob', 'carol'].entries()) {
      const store = open(directory);
      for (const each of [1, 2]) {
        await store.save(childRecord(`${root}-${each}`, { root, spawnedAt: 10 * index + each }));
      }
      await store.close();
    }
    const own = open(directory, { mostLeft: 3 });
    expect((await own.list(({ root }) => root === 'bob')).map(({ id }) => id)).toEqual(['bob-1', 'bob-2']);
    expect(await processFolders(directory)).toHaveLength(3);
    const next = open(directory);
    expect(await idsIn(next)).toEqual(['alice-2', 'carol-1', 'carol-2']);
    await next.close();
    const last = open(directory, { mostLeft: 0 });
    expect(await last.list(() => false)).toEqual([]);
    expect(await processFolders(directory)).toHaveLength(2);
    await own.close();
    expect(await idsIn(last)).toEqual(['bob-1', 'bob-2']);
  });

  it('renames and reports an invalid file, and ignores a record of a later release', async () => {
    const directory = temporaryFolder();
    const first = open(directory);
    for (const id of ['torn', 'later', 'good']) await first.save(childRecord(id));
    const [folder = ''] = await processFolders(directory);
    const fileOf = async (id: string): Promise<string> => {
      for (const name of await readdir(folder)) {
        if ((await readFile(join(folder, name), 'utf8')).includes(`"id":"${id}"`)) return join(folder, name);
      }
      throw new Error(`There is no ${id}.`);
    };
    const [torn, later] = [await fileOf('torn'), await fileOf('later')];
    await writeFile(torn, '{"v":1,"id":"torn"');
    await writeFile(later, JSON.stringify({ v: 2, id: 'later' }));
    await first.close();
    const problems: ChildStoreProblem[] = [];
    const second = open(directory, { onProblem: (problem: ChildStoreProblem) => problems.push(problem) });
    expect(await idsIn(second)).toEqual(['good']);
    expect(problems).toMatchObject([{ path: torn, backup: `${torn}.corrupt` }]);
    expect(await readFile(problems[0]?.backup ?? '', 'utf8')).toBe('{"v":1,"id":"torn"');
    expect(JSON.parse(await readFile(later, 'utf8'))).toEqual({ v: 2, id: 'later' });
    expect(await idsIn(second)).toEqual(['good']);
    expect(problems).toHaveLength(1);
  });

  it.each([
    ['process of another machine', { host: 'elsewhere', pid: 1 }, 20_000, 40_000],
    ['process of another machine with a short lease', { host: 'elsewhere', pid: 1, leaseMs: 1000 }, 500, 5000],
  ])('presumes a %s dead after its lease', async (_, owner, before, after) => {
    const directory = temporaryFolder();
    const folder = join(directory, 'process-x');
    const ownerPath = join(folder, 'lock.1/token/owner');
    await mkdir(dirname(ownerPath), { recursive: true });
    const first = open(directory);
    await first.save(childRecord('a'));
    const [own = ''] = (await processFolders(directory)).filter((each) => each !== folder);
    const [name = ''] = (await readdir(own)).filter((each) => each.endsWith('.json'));
    await writeFile(join(folder, name), await readFile(join(own, name)));
    await first.delete('a');
    await writeFile(ownerPath, JSON.stringify({ leaseMs: 30_000, ...owner }));
    const last = async (ms: number): Promise<void> => {
      const then = new Date(Date.now() - ms);
      await utimes(ownerPath, then, then);
    };
    await last(before);
    expect(await idsIn(first)).toEqual([]);
    await last(after);
    expect(await idsIn(first)).toEqual(['a']);
    expect(await processFolders(directory)).toEqual([own]);
  });

  it('distinguishes a dead process from a living one with the same process id', async () => {
    const directory = temporaryFolder();
    const store = open(directory);
    await store.save(childRecord('a'));
    const [own = ''] = await processFolders(directory);
    const owner = JSON.parse(await readFile(await ownerIn(own), 'utf8')) as { readonly start: string };
    if (owner.start === '') return;
    for (const name of ['x', 'y']) await mkdir(join(directory, `process-${name}/lock.1/token`), { recursive: true });
    const other = JSON.stringify({ ...owner, start: `${owner.start}0` });
    await writeFile(join(directory, 'process-x/lock.1/token/owner'), other);
    await writeFile(join(directory, 'process-y/lock.1/token/owner'), JSON.stringify(owner));
    await store.list();
    expect((await processFolders(directory)).toSorted()).toEqual([own, join(directory, 'process-y')].toSorted());
  });

  it('writes nothing more to a folder that was taken over, and continues in a new one', async () => {
    const directory = temporaryFolder();
    const store = open(directory);
    await store.save(childRecord('a'));
    const [folder = ''] = await processFolders(directory);
    await rm(join(folder, 'lock.1'), { recursive: true });
    const lost = await Promise.allSettled(['b', 'd', 'e', 'f'].map((id) => store.save(childRecord(id))));
    expect(lost.map((each): unknown => (each.status === 'rejected' ? each.reason : each))).toMatchObject(
      lost.map(() => ({ code: 'store-taken' })),
    );
    await store.save(childRecord('c'));
    const other = open(directory);
    expect(await idsIn(other)).toEqual(['a']);
    expect(await idsIn(store)).toEqual(['c']);
    expect(await processFolders(directory)).toHaveLength(2);
  });

  it('renews its lease', async () => {
    const directory = temporaryFolder();
    const store = open(directory, { leaseMs: 100 });
    await store.save(childRecord('a'));
    const [folder = ''] = await processFolders(directory);
    const long = new Date(1000);
    await utimes(await ownerIn(folder), long, long);
    await expect.poll(async () => (await stat(await ownerIn(folder))).mtimeMs).toBeGreaterThan(1000);
    expect(JSON.parse(await readFile(await ownerIn(folder), 'utf8'))).toMatchObject({ pid: process.pid, leaseMs: 100 });
  });

  it.runIf(process.platform === 'linux')('limits the number of open files', async () => {
    const store = open(temporaryFolder());
    await store.save(childRecord('first'));
    const filesOpen = (): number => readdirSync('/proc/self/fd').length;
    const before = filesOpen();
    let most = before;
    const looking = setInterval(() => (most = Math.max(most, filesOpen())), 1);
    await Promise.all(Array.from({ length: 300 }, async (_, index) => store.save(childRecord(String(index)))));
    clearInterval(looking);
    expect(most).toBeGreaterThan(before);
    expect(most - before).toBeLessThan(100);
    expect(await idsIn(store)).toHaveLength(301);
  });

  it('fails while the folder cannot be created, and works afterwards', async () => {
    const directory = join(temporaryFolder(), 'folder');
    await writeFile(directory, 'a file');
    const store = open(directory);
    await expect(store.save(childRecord('a'))).rejects.toThrow();
    await rm(directory);
    await store.save(childRecord('a'));
    expect(await idsIn(store)).toEqual(['a']);
    if (process.platform === 'win32') return;
    const [folder = ''] = await processFolders(directory);
    expect([
      (await stat(folder)).mode & 0o777,
      ...(await Promise.all(
        (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).mode & 0o777),
      )),
    ]).toEqual([0o700, 0o600, 0o700]);
  });

  it.each<[string, object, RegExp]>([
    ['no folder', {}, /fileChildStore\(\): "directory" is required; it must be a/],
    ['an unknown option', { directory: 'x', leaseMS: 1 }, /unknown option "leaseMS".*Did you mean "leaseMs"/],
    [
      'a value that is not a number',
      { directory: 'x', mostLeft: -1 },
      /"mostLeft" must be an integer from 0 or Infinity; received -1\./,
    ],
    [
      'an invalid lease',
      { directory: 'x', leaseMs: 1 },
      /"leaseMs" must be a number from 100 to 2147483647; received 1\./,
    ],
  ])('refuses %s', (_, options, message) => {
    expect(() => fileChildStore(options as never)).toThrow(message);
  });
});

describe('a process that is killed while it stores records', () => {
  const running = async (
    directory: string,
    bundle: string,
  ): Promise<{ readonly child: ChildProcess; readonly said: () => readonly (readonly string[])[] }> => {
    const child = spawn(
      process.execPath,
      [fileURLToPath(new URL('../../test/keep-records.mjs', import.meta.url)), bundle, directory],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    onTestFinished(() => void child.kill('SIGKILL'));
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    await once(child.stdout as NodeJS.ReadableStream, 'data');
    return {
      child,
      said: () =>
        text
          .split('\n')
          .slice(0, -1)
          .map((line) => line.split(' ')),
    };
  };

  it('leaves every confirmed record to exactly one of the stores that list it', async () => {
    const root = temporaryFolder();
    const bundle = join(root, 'store.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('index.ts', import.meta.url))],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['@h/source'],
      logLevel: 'silent',
    });
    const directory = join(root, 'store');
    const living = await running(directory, bundle);
    for (const delayMs of [0, 13, 53]) {
      const { child, said } = await running(directory, bundle);
      await new Promise((resolve) => void setTimeout(resolve, delayMs));
      child.kill('SIGKILL');
      await once(child, 'close');
      const stores = [open(directory), open(directory), open(directory)];
      const lists = await Promise.all(stores.map((store) => store.list()));
      const found = new Map(lists.flat().map((each) => [each.id, each]));
      expect(lists.flat()).toHaveLength(found.size);
      expect([...found.keys()].every((id) => id.startsWith(`${child.pid}-`))).toBe(true);
      const last = new Map(said().map(([what = '', id = '']) => [id, what]));
      for (const [id, what] of last) {
        if (what === 'deleted') expect(found.has(id), `${id} was deleted`).toBe(false);
        if (what === 'saved' || what === 'changed') expect(found.get(id), `${id} was ${what}`).toBeDefined();
        if (what === 'changed') expect(found.get(id)?.takenBy).toBe('call');
      }
      // One record may have been confirmed that the process could not tell of any more.
      expect([...found.keys()].filter((id) => !last.has(id)).length).toBeLessThanOrEqual(1);
      for (const store of stores) {
        for (const { id } of await store.list()) await store.delete(id);
        await store.close();
      }
    }
    expect(living.child.exitCode).toBe(null);
    expect(living.said().length).toBeGreaterThan(0);
    living.child.kill('SIGKILL');
    await once(living.child, 'close');
    const rest = open(directory);
    expect((await rest.list()).length).toBeGreaterThan(0);
    expect(await processFolders(directory)).toHaveLength(1);
  });
});
