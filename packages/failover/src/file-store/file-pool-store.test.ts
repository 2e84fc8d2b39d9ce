import { fork } from 'node:child_process';
import { readdirSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { interceptOperations } from '../../../../tooling/vitest/file-operations.js';
import { createCredentialPool } from '../pool/credential-pool.js';
import { classifyError } from '@h/provider-errors';
import type { PoolState } from '../pool/pool-store.js';
import { describePoolStore } from '../testing/index.js';
import { filePoolStore } from './file-pool-store.js';

const folder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'h-failover-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
};

const poolAt = (path: string, clock: { now: number }, errors: unknown[] = []) =>
  createCredentialPool({
    profiles: ['a1', 'a2'].map((id) => ({ id, provider: 'alpha', key: `secret-key-of-${id}` })),
    store: filePoolStore({ path }),
    refreshMs: 100,
    now: () => clock.now,
    random: () => 0,
    onStoreError: (error) => errors.push(error),
  });

const window = (until: number, level = 1): PoolState['windows'][string] => ({
  reason: 'rate-limit',
  since: 0,
  until,
  level,
});
const limited = classifyError({ status: 429 });
const quota = classifyError({ status: 402 });

describe('filePoolStore', () => {
  describePoolStore(async () => {
    const path = join(await folder(), 'deep/er/pool.json');
    return () => filePoolStore({ path });
  });

  it('shares cooldowns and their ends between pools', async () => {
    const path = join(await folder(), 'deep/er/pool.json');
    const clock = { now: 0 };
    const [one, other] = [poolAt(path, clock), poolAt(path, clock)];
    one.failed('a1', 'm', limited);
    await one.flush();
    await other.refresh();
    expect(other.status()[0]?.cooldowns).toMatchObject([{ model: 'm', until: 60_000 }]);
    clock.now = 60_000;
    one.succeeded('a1', 'm');
    await one.flush();
    expect(other.refresh()).toBeInstanceOf(Promise);
    await other.refresh();
    clock.now = 60_050;
    expect(other.refresh()).toBeUndefined();
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({ version: 1, windows: {} });
  });

  it('never shortens what another process has written', async () => {
    const path = join(await folder(), 'pool.json');
    const clock = { now: 0 };
    const [one, other] = [poolAt(path, clock), poolAt(path, clock)];
    one.failed('a1', 'm', quota);
    await one.flush();
    other.failed('a1', 'm', classifyError({ status: 401 }));
    await other.flush();
    expect(other.status()[0]?.cooldowns).toMatchObject([{ reason: 'quota', until: 3_600_000 }]);
  });

  it('keeps what happens while the file is read', async () => {
    const path = join(await folder(), 'pool.json');
    const pool = poolAt(path, { now: 0 });
    const reading = pool.refresh();
    pool.failed('a1', 'm', limited);
    pool.failed('a2', 'm', limited);
    await reading;
    expect(pool.status().map(({ cooldowns }) => cooldowns.length)).toEqual([1, 1]);
    await pool.flush();
    expect(Object.keys((await filePoolStore({ path }).read()).windows)).toEqual(['a1\nm', 'a2\nm']);
  });

  it('holds nothing but ids and times, and is for its owner only', async () => {
    const path = join(await folder(), 'pool.json');
    const pool = poolAt(path, { now: 0 });
    await pool.key('a1');
    pool.failed('a1', 'm', limited);
    await pool.flush();
    const text = await readFile(path, 'utf8');
    expect(text).not.toContain('secret-key');
    expect(JSON.parse(text)).toEqual({
      version: 1,
      windows: { 'a1\nm': { reason: 'rate-limit', since: 0, until: 60_000, level: 1 } },
    });
    if (process.platform !== 'win32') expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['nothing', ''],
    ['half a file', '{"version":1,"wind'],
    ['another version', '{"version":2,"windows":{"[\\"a1\\"]":{}}}'],
    ['something else', '[1,2]'],
    [
      'windows that make no sense',
      JSON.stringify({
        version: 1,
        windows: {
          a: null,
          b: { reason: 'constructor', since: 0, until: 9e12, level: 1 },
          c: { reason: 'auth', since: 'x', until: 5, level: 1 },
        },
      }),
    ],
  ])('takes %s for an empty state', async (_, content) => {
    const path = join(await folder(), 'pool.json');
    await writeFile(path, content);
    expect(await filePoolStore({ path }).read()).toEqual({ version: 1, windows: {} });
  });

  it('leaves the file as it is when a change fails, and no temporary files', async () => {
    const path = join(await folder(), 'pool.json');
    const store = filePoolStore({ path });
    await store.update(() => ({ version: 1, windows: { x: window(5) } }));
    await expect(async () =>
      store.update(() => {
        throw new Error('No.');
      }),
    ).rejects.toThrow('No.');
    expect(await store.read()).toEqual({ version: 1, windows: { x: window(5) } });
    expect(await readdir(join(path, '..'))).toEqual(['pool.json', 'pool.json.lock']);
  });

  it('fails while another process holds the lock, and continues when its lease has run out', async () => {
    const path = join(await folder(), 'pool.json');
    const holding = `${path}.lock/lock.1/token`;
    await mkdir(holding, { recursive: true });
    await writeFile(join(holding, 'owner'), JSON.stringify({ host: 'elsewhere', pid: 1, leaseMs: 60_000 }));
    const store = filePoolStore({ path, leaseMs: 100 });
    await expect(store.update((state) => state)).rejects.toMatchObject({
      code: 'store-locked',
      message: expect.stringMatching(/held by process 1 on elsewhere .* after waiting 300 ms/) as string,
    });
    await utimes(join(holding, 'owner'), 1, 1);
    await expect(store.update((state) => state)).resolves.toBeDefined();
  });

  it.runIf(process.platform === 'linux')('leaves no handle and no lock on a full disk', async () => {
    const path = join(await folder(), 'pool.json');
    const store = filePoolStore({ path });
    await store.update((state) => state);
    const handle = await open(path);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const before = readdirSync('/proc/self/fd').length;
    const full = Object.assign(new Error('No space left on device'), { code: 'ENOSPC' });
    const append = vi.spyOn(prototype, 'appendFile').mockRejectedValue(full);
    onTestFinished(() => append.mockRestore());
    await expect(store.update((state) => state)).rejects.toBe(full);
    expect(readdirSync('/proc/self/fd').length).toBe(before);
    append.mockRestore();
    await store.update((state) => ({ ...state, windows: { x: window(5) } }));
    expect(await store.read()).toEqual({ version: 1, windows: { x: window(5) } });
  });

  it('keeps what the file has when it cannot be read at any operation', async () => {
    const path = join(await folder(), 'pool.json');
    const add = async (name: string, level: number): Promise<PoolState> =>
      filePoolStore({ path, leaseMs: 100 }).update(({ windows }) => ({
        version: 1,
        windows: { ...windows, [name]: window(level) },
      }));
    await add('kept', 1);
    let failed = 0;
    for (let operation = 1; ; operation += 1) {
      let reached = 0;
      const restore = await interceptOperations((count) => {
        reached = count;
        if (count === operation) throw Object.assign(new Error('Input/output error'), { code: 'EIO' });
      });
      await add('other', operation).catch(() => (failed += 1));
      restore();
      if (reached < operation) break;
      expect((await filePoolStore({ path }).read()).windows, `operation ${operation}`).toHaveProperty('kept');
    }
    expect(failed).toBeGreaterThan(5);
  });

  it('continues with the state in memory when the file is not available', async () => {
    const path = join(await folder(), 'pool.json');
    await writeFile(path, '');
    const errors: unknown[] = [];
    const pool = poolAt(join(path, 'below-a-file.json'), { now: 0 }, errors);
    pool.failed('a1', 'm', limited);
    await pool.flush();
    expect(errors).toHaveLength(1);
    expect(pool.status()[0]?.cooldowns).toHaveLength(1);
  });

  it('fails where no folder can be created', async () => {
    await expect(filePoolStore({ path: '/proc/nothing/pool.json' }).update((state) => state)).rejects.toThrow('/proc');
  });

  it('loses nothing when processes write at the same time', async () => {
    const place = await folder();
    const path = join(place, 'pool.json');
    const bundle = join(place, 'store.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('index.ts', import.meta.url))],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['@h/source'],
      logLevel: 'silent',
    });
    const worker = fileURLToPath(new URL('../../test/count-in-store.mjs', import.meta.url));
    const children = Array.from({ length: 3 }, () => fork(worker, [bundle, path, '20'], { execArgv: [] }));
    const codes = await Promise.all(children.map((child) => new Promise((resolve) => child.once('exit', resolve))));
    expect(codes).toEqual([0, 0, 0]);
    const { windows } = await filePoolStore({ path }).read();
    expect(windows['count']?.level).toBe(60);
  });
});
