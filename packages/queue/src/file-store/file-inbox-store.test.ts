import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import type { InboxStore, KeptMessage, KnownDelivery } from '../inbox/inbox-store.js';
import { describeInboxStore } from '../testing/describe-inbox-store.js';
import { fileInboxStore } from './index.js';
import type { FileInboxProblem } from './load.js';

const kept = (tag: string, more: Partial<KeptMessage> = {}): KeptMessage => ({
  tag,
  session: 'alice',
  message: { role: 'user', content: `Message ${tag}`, metadata: { inbox: tag } },
  mode: 'steer',
  mergeKey: '',
  options: {},
  ...more,
});

const known = (id: string): KnownDelivery => ({
  session: 'alice',
  id,
  delivery: { status: 'delivered', how: 'turn', turn: `turn-${id}` },
});

const storeIn = (directory: string, more: object = {}): InboxStore => {
  const store = fileInboxStore({ directory, ...more });
  onTestFinished(() => store.close());
  return store;
};

/** Returns what the next process reads. */
const foundIn = async (directory: string, more: object = {}) => {
  const store = storeIn(directory, more);
  const { messages, delivered } = await store.open();
  await store.close();
  return { tags: messages.map(({ tag }) => tag), messages, ids: delivered.map(({ id }) => id) };
};

const theFile = async (directory: string): Promise<string> => {
  const [name = ''] = (await readdir(directory)).filter((each) => /^inbox\.\d+\.jsonl$/.test(each));
  return join(directory, name);
};

/** The file that names the first holder of the lock. */
const ownerIn = async (directory: string): Promise<string> => {
  const [token = ''] = await readdir(join(directory, 'lock.1'));
  return join(directory, 'lock.1', token, 'owner');
};

describe('fileInboxStore', () => {
  describeInboxStore(async () => {
    const directory = join(temporaryFolder(), 'deep', 'er');
    // Other tests kill real processes; what was confirmed is in the file either way.
    return { create: () => storeIn(directory), kill: (store) => store.close() };
  });

  it('releases its folder when it is closed, also while it is being opened', async () => {
    const directory = temporaryFolder();
    const store = storeIn(directory);
    const opening = store.open();
    await Promise.all([store.close(), store.close()]);
    await opening;
    await expect(store.save(kept('a'))).rejects.toMatchObject({ code: 'inbox-closed' });
    expect((await foundIn(directory)).tags).toEqual([]);
  });

  it('is opened once', async () => {
    const store = storeIn(temporaryFolder());
    const attempts = await Promise.allSettled([store.open(), store.open()]);
    expect(attempts).toMatchObject([{ status: 'fulfilled' }, { reason: { code: 'inbox-closed' } }]);
  });

  it('limits the file to twice its current content plus a megabyte', async () => {
    const directory = temporaryFolder();
    const store = storeIn(directory);
    await store.open();
    const large = 'x'.repeat(100_000);
    for (let index = 0; index < 30; index += 1) {
      await store.save(kept(`${index}`, { message: { role: 'user', content: large } }));
      await store.remove(`${index}`, known(`${index}`));
      expect((await stat(await theFile(directory))).size).toBeLessThan(1_400_000);
    }
    await store.close();
    expect((await foundIn(directory)).ids).toHaveLength(30);
    expect((await stat(await theFile(directory))).size).toBeLessThan(10_000);
  });

  it('rejects other holders until it is closed', async () => {
    const directory = temporaryFolder();
    const first = storeIn(directory);
    await first.open();
    await first.save(kept('a'));
    const second = storeIn(directory);
    await expect(second.open()).rejects.toMatchObject({
      code: 'inbox-held',
      pid: process.pid,
      message: expect.stringContaining(`process ${process.pid} (this one)`) as string,
    });
    await first.close();
    expect((await second.open()).messages).toEqual([kept('a')]);
    await second.close();
    expect((await readdir(directory)).toSorted()).toEqual(['inbox.2.jsonl', 'lock.2']);
  });

  it('is opened by exactly one of many concurrent callers', async () => {
    const directory = temporaryFolder();
    for (let round = 0; round < 10; round += 1) {
      const stores = Array.from({ length: 5 }, () => storeIn(directory));
      const opened = await Promise.allSettled(stores.map((store) => store.open()));
      expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const store of stores) await store.close();
    }
    expect(await readdir(directory)).toHaveLength(2);
  });

  it('rejects operations before it is opened and after it is closed', async () => {
    const store = storeIn(temporaryFolder());
    await expect(store.save(kept('a'))).rejects.toMatchObject({ code: 'inbox-closed' });
    await store.open();
    await expect(store.open()).rejects.toMatchObject({ code: 'inbox-closed' });
    await store.close();
    for (const call of [store.save(kept('a')), store.remove('a'), store.check(), store.open()]) {
      await expect(call).rejects.toMatchObject({ code: 'inbox-closed' });
    }
    await store.close();
  });

  it('rejects messages that it could not read again', async () => {
    const directory = temporaryFolder();
    const store = storeIn(directory);
    await store.open();
    await expect(store.save(kept('a', { mergeKey: undefined as never }))).rejects.toMatchObject({
      code: 'unwritable-message',
    });
    await expect(
      store.save(kept('b', { message: { role: 'user', content: 'b', metadata: { f: () => 1 } as never } })),
    ).rejects.toMatchObject({ code: 'unwritable-record' });
    await store.save(kept('c'));
    await store.close();
    expect((await foundIn(directory)).tags).toEqual(['c']);
  });

  it('drops a truncated line, keeps a copy of the file, and reports it', async () => {
    const directory = temporaryFolder();
    const store = storeIn(directory);
    await store.open();
    await store.save(kept('a'));
    await store.save(kept('b'));
    await store.close();
    const path = await theFile(directory);
    const whole = await readFile(path);
    await truncate(path, whole.length - 5);
    const problems: FileInboxProblem[] = [];
    expect(
      (await foundIn(directory, { onProblem: (problem: FileInboxProblem) => problems.push(problem) })).tags,
    ).toEqual(['a']);
    expect(problems).toEqual([
      {
        path,
        backup: join(directory, 'inbox.1.damaged.jsonl'),
        lines: 1,
        message: expect.stringContaining('never confirmed') as string,
      },
    ]);
    expect(await readFile(problems[0]?.backup ?? '')).toEqual(whole.subarray(0, -5));
    expect(
      (await foundIn(directory, { onProblem: (problem: FileInboxProblem) => problems.push(problem) })).tags,
    ).toEqual(['a']);
    expect(problems).toHaveLength(1);
  });

  it('skips unreadable lines, even if the callback that reports them throws', async () => {
    const directory = temporaryFolder();
    const store = storeIn(directory);
    await store.open();
    await store.save(kept('a'));
    await store.close();
    const path = await theFile(directory);
    const line = await readFile(path, 'utf8');
    const wrong = [
      'null',
      '{"v":1,"type":"saved"}',
      line.replace('"role":"user"', '"role":"king"').trim(),
      '{"v":1,"type":"removed","tag":"a","delivered":{"id":1}}',
      '\0\0\0',
    ];
    await appendFile(path, `${wrong.join('\n')}\n`);
    const noText = Buffer.from(line.replaceAll('"a"', '"z"'));
    noText[noText.indexOf('Message')] = 0xff;
    await appendFile(path, noText);
    await appendFile(path, line.replaceAll('"a"', '"b"'));
    const problems: FileInboxProblem[] = [];
    const onProblem = (problem: FileInboxProblem): never => {
      problems.push(problem);
      throw new Error('No.');
    };
    expect((await foundIn(directory, { onProblem })).tags).toEqual(['a', 'b']);
    expect(problems).toMatchObject([
      { lines: 6, message: expect.stringContaining('6 lines are unreadable') as string },
    ]);
  });

  it('rejects and keeps a file that a later release wrote', async () => {
    const directory = temporaryFolder();
    await writeFile(join(directory, 'inbox.3.jsonl'), '{"v":2,"type":"saved"}\n');
    await expect(storeIn(directory).open()).rejects.toMatchObject({ code: 'unsupported-version' });
    await expect(storeIn(directory).open()).rejects.toMatchObject({ code: 'unsupported-version' });
    expect(await readFile(join(directory, 'inbox.3.jsonl'), 'utf8')).toBe('{"v":2,"type":"saved"}\n');
  });

  it('reads the latest file, and ignores the file of a late process', async () => {
    const directory = temporaryFolder();
    const store = storeIn(directory);
    await store.open();
    await store.save(kept('a'));
    await store.close();
    expect((await foundIn(directory)).tags).toEqual(['a']);
    await writeFile(
      join(directory, 'inbox.1.jsonl'),
      (await readFile(await theFile(directory), 'utf8')).replaceAll('"a"', '"late"'),
    );
    for (const name of (await readdir(directory)).filter((each) => each.startsWith('lock'))) {
      await rm(join(directory, name), { recursive: true });
    }
    expect((await foundIn(directory)).tags).toEqual(['a']);
    expect((await readdir(directory)).toSorted()).toEqual(['inbox.3.jsonl', 'lock.3']);
  });

  it.each([
    ['process of another machine', 20_000, 40_000, 30_000],
    ['process of another machine with a short lease', 500, 5000, 1000],
  ])('presumes a %s dead after its lease, and rejects its later writes', async (_, before, after, leaseMs) => {
    const directory = temporaryFolder();
    const first = storeIn(directory);
    await first.open();
    await first.save(kept('a'));
    const owner = await ownerIn(directory);
    await writeFile(
      owner,
      JSON.stringify({ ...(JSON.parse(await readFile(owner, 'utf8')) as object), host: 'elsewhere', leaseMs }),
    );
    const last = (ms: number): Promise<void> => utimes(owner, new Date(Date.now() - ms), new Date(Date.now() - ms));
    await last(before);
    await expect(storeIn(directory).open()).rejects.toMatchObject({ code: 'inbox-held', host: 'elsewhere' });
    await last(after);
    const second = storeIn(directory);
    expect((await second.open()).messages).toEqual([kept('a')]);
    for (const call of [() => first.check(), () => first.save(kept('b')), () => first.remove('a')]) {
      await expect(call()).rejects.toMatchObject({ code: 'inbox-taken' });
    }
    await first.close();
    await second.save(kept('c'));
    await second.check();
    await second.close();
    expect((await foundIn(directory)).tags).toEqual(['a', 'c']);
  });

  it('distinguishes a dead process from a living one with the same pid', async () => {
    const directory = temporaryFolder();
    const first = storeIn(directory);
    await first.open();
    const owner = await ownerIn(directory);
    const holder = JSON.parse(await readFile(owner, 'utf8')) as { readonly start: string };
    if (holder.start === '') return;
    await writeFile(owner, JSON.stringify({ ...holder, start: `${holder.start}0` }));
    await storeIn(directory).open();
  });

  it('renews its lease', async () => {
    const directory = temporaryFolder();
    const store = storeIn(directory, { leaseMs: 100 });
    await store.open();
    const owner = await ownerIn(directory);
    await utimes(owner, 1, 1);
    await expect.poll(async () => (await stat(owner)).mtimeMs, { timeout: 10_000 }).toBeGreaterThan(1_000_000);
    expect(JSON.parse(await readFile(owner, 'utf8'))).toMatchObject({ pid: process.pid });
  });

  it('fails if the folder cannot be created, recovers later, and is private to its owner', async () => {
    const directory = join(temporaryFolder(), 'folder');
    await writeFile(directory, 'a file');
    const store = storeIn(directory);
    await expect(store.open()).rejects.toThrow();
    await rm(directory);
    await store.open();
    await store.save(kept('a'));
    if (process.platform === 'win32') return;
    expect([(await stat(directory)).mode & 0o777, (await stat(await theFile(directory))).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
  });

  it.skipIf(process.platform === 'win32')('removes a partial write, and continues once writes succeed', async () => {
    const directory = temporaryFolder();
    // The limit for a file is 64 kB there. The store is neither closed nor released, as after a kill.
    const script = `process.on('SIGXFSZ', () => undefined);
      const store = fileInboxStore({ directory });
      await store.open();
      await store.save(message('first', 10));
      const refused = await Promise.allSettled([store.save(message('whole', 10)), store.save(message('large', 600_000))]);
      if (process.argv.includes('continues')) await store.save(message('last', 10));
      process.exit(refused.every(({ status }) => status === 'rejected') ? 0 : 1);`;
    for (const [then, tags] of [
      ['ends', ['first']],
      ['continues', ['first', 'last']],
    ] as const) {
      const child = await aProcess(join(directory, then), script, '64', then);
      expect((await once(child, 'exit'))[0]).toBe(0);
      expect((await foundIn(join(directory, then))).tags).toEqual(tags);
    }
  });

  it.skipIf(process.platform === 'win32')(
    'belongs to a living process, even a suspended one, and is free once it is killed',
    async () => {
      const directory = temporaryFolder();
      const script = `const store = fileInboxStore({ directory, leaseMs: 100 });
      await store.open();
      await store.save(message('a', 10));
      console.log('kept');
      // Keeps the store, whose file would be closed by the garbage collection otherwise.
      setInterval(() => store, 1000);`;
      const child = await aProcess(directory, script);
      await once(child.stdout as NodeJS.ReadableStream, 'data');
      await expect(storeIn(directory).open()).rejects.toMatchObject({ code: 'inbox-held', pid: child.pid });
      child.kill('SIGSTOP');
      await utimes(await ownerIn(directory), 1, 1);
      await expect(storeIn(directory).open()).rejects.toMatchObject({ code: 'inbox-held', pid: child.pid });
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect((await foundIn(directory)).tags).toEqual(['a']);
    },
  );

  it.each<[string, object, RegExp]>([
    ['no folder', {}, /fileInboxStore\(\): "directory" is required/],
    ['an unknown option', { directory: 'x', leaseMS: 1 }, /unknown option "leaseMS" .*Did you mean "leaseMs"/],
    [
      'a lease that is not a number',
      { directory: 'x', leaseMs: 1 },
      /"leaseMs" must be a number from 100 to 2147483647; received 1\./,
    ],
  ])('refuses %s', (_, options, message) => {
    expect(() => fileInboxStore(options as never)).toThrow(message);
  });

  it('returns all confirmed messages wherever the file is truncated', async () => {
    const directory = temporaryFolder();
    const step = fc.record({ tag: fc.constantFrom('a', 'b', 'c'), what: fc.constantFrom('save', 'remove', 'deliver') });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.nat(), async (steps, cut) => {
        const folder = join(directory, `${(run += 1)}`);
        const store = fileInboxStore({ directory: folder });
        await store.open();
        const path = await theFile(folder);
        const sizes: number[] = [0];
        const states: (readonly string[])[] = [[]];
        const model = new Map<string, true>();
        for (const { tag, what } of steps) {
          await (what === 'save'
            ? store.save(kept(tag))
            : store.remove(tag, what === 'deliver' ? known(tag) : undefined));
          model.delete(tag);
          if (what === 'save') model.set(tag, true);
          sizes.push((await stat(path)).size);
          states.push([...model.keys()]);
        }
        await store.close();
        const size = cut % ((sizes.at(-1) ?? 0) + 1);
        await truncate(path, size);
        expect((await foundIn(folder)).tags).toEqual(states[sizes.findLastIndex((each) => each <= size)]);
      }),
      { numRuns: 15 },
    );
  });
});

/** Starts a process that runs this script with `fileInboxStore`, its `directory` and `message(tag, length)`. */
const aProcess = async (
  directory: string,
  script: string,
  limit = 'unlimited',
  ...rest: readonly string[]
): Promise<ChildProcess> => {
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
  const file = join(root, 'script.mjs');
  const start = `import { fileInboxStore } from ${JSON.stringify(bundle)};
    const directory = ${JSON.stringify(directory)};
    const message = (tag, length) => ({ tag, session: 's', message: { role: 'user', content: 'x'.repeat(length) }, mode: 'steer', mergeKey: '', options: {} });`;
  await writeFile(file, `${start}\n${script}`);
  const child = spawn('bash', ['-c', `ulimit -f ${limit}; exec "$0" "$@"`, process.execPath, file, ...rest], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
};
