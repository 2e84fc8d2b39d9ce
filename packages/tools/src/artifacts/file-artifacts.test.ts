import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeArtifactStore } from '../testing/describe-artifact-store.js';
import { InvalidOptionError } from '@h/options';
import { interceptOperations } from '../../../../tooling/vitest/file-operations.js';
import { fileArtifacts } from './file-artifacts.js';
import { ArtifactNotFoundError } from './store.js';

let root: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'h-artifacts-')));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);
const onlyIn = async (folder: string): Promise<string> => {
  const [name = '', ...others] = await readdir(folder);
  expect(others).toEqual([]);
  return join(folder, name);
};

describe('fileArtifacts', () => {
  let made = 0;
  describeArtifactStore((options) => fileArtifacts({ directory: join(root, `store-${(made += 1)}`), ...options }));

  it('restricts files and folders to their owner, under names that reveal nothing', async () => {
    const directory = join(root, 'a/b/artifacts');
    const store = await fileArtifacts({ directory });
    const { id } = await store.put({ session: '../../alice/secret project', content: 'x' });
    const folder = await onlyIn(directory);
    expect(folder).toMatch(/\/[0-9a-f]{32}$/);
    expect(await mode(directory)).toBe('700');
    expect(await mode(folder)).toBe('700');
    expect(await mode(join(folder, id))).toBe('700');
    for (const name of ['content', 'description.json']) expect(await mode(join(folder, id, name))).toBe('600');
  });

  it('removes the access of other users to an existing folder', async () => {
    const directory = join(root, 'open');
    await mkdir(directory);
    await chmod(directory, 0o755);
    await fileArtifacts({ directory });
    expect(await mode(directory)).toBe('700');
  });

  it('makes artifacts available to the next process', async () => {
    const directory = join(root, 'store');
    const { id } = await (await fileArtifacts({ directory })).put({ session: 'alice', content: 'kept – ü' });
    expect((await (await fileArtifacts({ directory })).read('alice', id, { offset: 5, length: 3 })).content).toBe(
      '– ü',
    );
  });

  it('counts existing artifacts towards its quota', async () => {
    const directory = join(root, 'store');
    await (await fileArtifacts({ directory })).put({ session: 'alice', content: 'x'.repeat(900) });
    const store = await fileArtifacts({ directory, maxBytes: 1_000, maxSessionBytes: 1_000 });
    await expect(store.put({ session: 'bob', content: 'x'.repeat(200) })).rejects.toThrow(/artifact needs 200 bytes/);
  });

  it('removes expired artifacts when it is opened', async () => {
    const directory = join(root, 'store');
    await (await fileArtifacts({ directory })).put({ session: 'alice', content: 'x' });
    const folder = await onlyIn(directory);
    const before = new Date(Date.now() - 8 * 24 * 60 * 60 * 1_000);
    await utimes(folder, before, before);
    await fileArtifacts({ directory });
    expect(await readdir(directory)).toEqual([]);
  });

  it('frees its quota when artifacts expire', async () => {
    let time = Date.now();
    const directory = join(root, 'store');
    const store = await fileArtifacts({ directory, ttlMs: 1_000, maxBytes: 10, maxSessionBytes: 10, now: () => time });
    await store.put({ session: 'alice', content: '0123456789' });
    await expect(store.put({ session: 'bob', content: 'x' })).rejects.toHaveProperty('code', 'artifact-quota');
    time += 5_000;
    await store.put({ session: 'bob', content: '0123456789' });
  });

  it('never removes foreign files', async () => {
    const directory = join(root, 'store');
    await mkdir(directory);
    await writeFile(join(directory, 'notes.txt'), 'mine');
    const store = await fileArtifacts({ directory, ttlMs: 1, now: () => Date.now() + 1_000_000 });
    await store.put({ session: 'alice', content: 'x' });
    expect(await readFile(join(directory, 'notes.txt'), 'utf8')).toBe('mine');
  });

  it('does not follow a link that replaced an artifact', async () => {
    const directory = join(root, 'store');
    const store = await fileArtifacts({ directory });
    const { id } = await store.put({ session: 'alice', content: 'x' });
    const file = join(await onlyIn(directory), id, 'content');
    await rm(file);
    await symlink('/etc/passwd', file);
    await expect(store.read('alice', id)).rejects.toMatchObject({ code: 'unsafe-file' });
  });

  it.skipIf(process.platform === 'win32')(
    'leaves no torn artifact when its process is killed at any moment',
    async () => {
      const directory = join(root, 'store');
      const script = join(root, 'child.mjs');
      await build({
        stdin: {
          contents: `
          import { fileArtifacts } from './file-artifacts.ts';
          const store = await fileArtifacts({ directory: ${JSON.stringify(directory)} });
          for (let count = 0; ; count += 1) {
            const { id } = await store.put({ session: 'alice', content: 'x'.repeat(100_000) });
            process.stdout.write(id + '\\n');
          }`,
          resolveDir: fileURLToPath(new URL('.', import.meta.url)),
        },
        outfile: script,
        bundle: true,
        platform: 'node',
        format: 'esm',
        conditions: ['@h/source'],
        external: ['js-tiktoken'],
        logLevel: 'silent',
      });
      const stored: string[] = [];
      for (let kill = 1; kill <= 5; kill += 1) {
        const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
        let text = '';
        child.stdout.on('data', (piece: Buffer) => {
          text += piece.toString();
          // Each run kills the process at a different moment.
          if (text.split('\n').length > kill) child.kill('SIGKILL');
        });
        await once(child, 'close');
        stored.push(...text.split('\n').filter((id) => id.length === 28));
        const store = await fileArtifacts({ directory });
        const names = await readdir(await onlyIn(directory));
        for (const name of names) expect((await store.read('alice', name)).content.length).toBe(100_000);
        expect(stored.filter((id) => !names.includes(id))).toEqual([]);
      }
      expect(stored.length).toBeGreaterThan(5);
    },
    60_000,
  );

  it('does not find an artifact that a power failure has cut off', async () => {
    const directory = join(root, 'store');
    const store = await fileArtifacts({ directory });
    const ids: string[] = [];
    for (const content of ['first', 'second', 'third']) ids.push((await store.put({ session: 'alice', content })).id);
    const [first = '', second = '', third = ''] = ids;
    const folder = await onlyIn(directory);
    await writeFile(join(folder, first, 'description.json'), '');
    await writeFile(join(folder, second, 'content'), '');
    for (const id of [first, second]) await expect(store.read('alice', id)).rejects.toThrow(ArtifactNotFoundError);
    expect((await store.read('alice', third)).content).toBe('third');
    expect((await store.list('alice')).map(({ id }) => id)).toEqual(expect.arrayContaining([third]));
  });

  it('opens while another process removes a session, at whichever operation', async () => {
    const directory = join(root, 'store');
    for (let operation = 1; operation <= 8; operation += 1) {
      const store = await fileArtifacts({ directory });
      await store.put({ session: 'alice', content: 'x' });
      const folder = await onlyIn(directory);
      const restore = await interceptOperations((count) => {
        if (count === operation) rmSync(folder, { recursive: true });
      });
      await fileArtifacts({ directory }).finally(restore);
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('leaves no files and frees its quota after a failed write', async () => {
    const directory = join(root, 'store');
    const store = await fileArtifacts({ directory, maxBytes: 10, maxSessionBytes: 10 });
    await store.put({ session: 'alice', content: 'x' });
    const folder = await onlyIn(directory);
    await rm(folder, { recursive: true });
    await writeFile(folder, 'in the way');
    await expect(store.put({ session: 'alice', content: '12345678' })).rejects.toThrow(/EEXIST|ENOTDIR/);
    await rm(folder);
    await expect(store.put({ session: 'alice', content: '12345678' })).resolves.toMatchObject({ size: 8 });
  });

  it.each([
    ['a relative path', () => 'artifacts', /absolute path/],
    [
      'a folder in a git work tree',
      async () => (await mkdir(join(root, 'repo/.git'), { recursive: true }), join(root, 'repo/.cache/artifacts')),
      /git work tree/,
    ],
    ['a link', async () => (await symlink(root, join(root, 'link')), join(root, 'link')), /not a link/],
  ])('refuses %s', async (_, directory, message) => {
    const opening = fileArtifacts({ directory: await directory() });
    await expect(opening).rejects.toThrow(InvalidOptionError);
    await expect(opening).rejects.toThrow(message);
  });
});
