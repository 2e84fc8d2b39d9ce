import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidOptionError } from '@h/options';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { interceptOperations } from '../../../tooling/vitest/file-operations.js';
import { createProject, CreateProjectError } from './create-project.js';

let parent = '';
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'create-h-'));
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const manifestIn = async (folder: string): Promise<{ name: string; dependencies: Record<string, string> }> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as never;

describe('createProject', () => {
  it('writes a project whose dependencies include every library that it imports', async () => {
    const { folder, files } = await createProject({ folder: join(parent, 'a') });
    expect((await readdir(folder)).toSorted()).toEqual(files);
    expect(files).toContain('.gitignore');
    const sources = await Promise.all(
      files.filter((file) => file.endsWith('.js')).map((file) => readFile(join(folder, file), 'utf8')),
    );
    const imported = sources.flatMap((source) =>
      [...source.matchAll(/(?:from |import\()'(?<name>(?:@[^/']+\/)?[^./'][^/']*)/g)].map(
        ({ groups }) => groups?.['name'] ?? '',
      ),
    );
    const { dependencies } = await manifestIn(folder);
    expect(imported.filter((name) => !name.startsWith('node:') && !(name in dependencies))).toEqual([]);
    expect(imported).toContain('@h/turn');
  });

  it.each([
    ['My Agent', 'my-agent'],
    ['.hidden', 'hidden'],
    ['Ünïcode', 'unicode'],
    ['Ünïcode'.normalize('NFD'), 'unicode'],
    ['日本', 'agent'],
    ['___', 'agent'],
  ])('names the package of the folder %j %j', async (folder, name) => {
    const project = await createProject({ folder: join(parent, folder) });
    expect(project.name).toBe(name);
    expect((await manifestIn(project.folder)).name).toBe(name);
  });

  it.each(['node_modules', 'favicon.ico', 'Favicon.ico', '日本語', '...', 'My Agent', `a'b"c`])(
    'gives the project in the folder %j a name that npm accepts',
    async (folder) => {
      const { name } = await createProject({ folder: join(parent, folder) });
      expect(name).toMatch(/^[a-z0-9][a-z0-9._-]{0,213}$/);
      expect(['node_modules', 'favicon.ico']).not.toContain(name);
    },
  );

  it.runIf(process.platform === 'linux')('rejects a folder that no system call can create', async () => {
    await expect(createProject({ folder: '/proc/x/my-agent' })).rejects.toMatchObject({ code: 'not-written' });
  });

  it('uses the given versions', async () => {
    const { folder } = await createProject({ folder: join(parent, 'a'), versions: { rxjs: '7.8.2' } });
    expect((await manifestIn(folder)).dependencies['rxjs']).toBe('7.8.2');
  });

  it('rejects a folder with content, and changes nothing in it', async () => {
    await writeFile(join(parent, 'notes.md'), 'mine');
    await expect(createProject({ folder: parent })).rejects.toThrow(CreateProjectError);
    expect(await readdir(parent)).toEqual(['notes.md']);
  });

  it('rejects a folder that cannot be written to', async () => {
    await writeFile(join(parent, 'notes.md'), 'mine');
    for (const folder of ['notes.md', 'notes.md/agent']) {
      const creating = createProject({ folder: join(parent, folder) });
      await expect(creating).rejects.toMatchObject({ name: 'CreateProjectError', code: 'not-written' });
      await expect(creating).rejects.toThrow(`Cannot write to the folder ${join(parent, folder)}: ENOTDIR`);
    }
  });

  it.each(['new/agent', '.'])('leaves the folder %s as it was if it is aborted', async (name) => {
    await mkdir(join(parent, '.git'));
    for (let aborted = 1; ; aborted += 1) {
      const controller = new AbortController();
      let count = 0;
      const restore = await interceptOperations((operation) => {
        count = operation;
        if (operation === aborted) controller.abort(new Error('Stopped.'));
      });
      const creating = createProject({ folder: join(parent, name), signal: controller.signal });
      const outcome = await creating.then(
        () => 'created',
        (error: Error) => error.message,
      );
      restore();
      if (count < aborted) break;
      // An abort within the last operation comes too late.
      const isLast = outcome === 'created' && count === aborted;
      expect(isLast || outcome === 'Stopped.', `operation ${aborted} of ${count}: ${outcome}`).toBe(true);
      if (isLast) break;
      expect(await readdir(parent)).toEqual(['.git']);
    }
  });

  it('accepts a folder with an empty repository', async () => {
    await mkdir(join(parent, '.git'));
    await expect(createProject({ folder: parent })).resolves.toMatchObject({ folder: parent });
  });

  it('rejects an invalid option', async () => {
    await expect(createProject({ folder: '' })).rejects.toThrow(InvalidOptionError);
  });
});
