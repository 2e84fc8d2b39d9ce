import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findDescriptorFolder, openVerified, openVerifiedSync } from './descriptor.js';
import { openFolder } from './open-folder.js';
import { PathError } from './path-error.js';
import { createWorkspacePaths } from './workspace-paths.js';

let base: string;
let root: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'h-open-')));
  root = join(base, 'work');
  mkdirSync(join(root, 'src'), { recursive: true });
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(root, 'src/a'), 'inside');
  writeFileSync(join(base, 'outside/a'), 'SECRET');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const swapFileForLink = () => {
  rmSync(join(root, 'src/a'));
  symlinkSync('../../outside/a', join(root, 'src/a'));
};
const swapFolderForLink = () => {
  renameSync(join(root, 'src'), join(root, 'old'));
  symlinkSync('../outside', join(root, 'src'));
};

// Systems without /proc use the second variant; the test runs it everywhere.
describe.each([
  ['with descriptors of the system', findDescriptorFolder()],
  ['without them', undefined],
])('opening %s', (_, descriptors) => {
  const read = async (path: string) => {
    const handle = await openVerified(path, 'file', descriptors);
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  };
  const options = {
    descriptors,
    create: true,
    get roots() {
      return [root];
    },
  };

  it('opens the file that was checked', async () => {
    expect(await read(join(root, 'src/a'))).toBe('inside');
  });

  it.each([
    ['the file', swapFileForLink],
    ['its folder', swapFolderForLink],
  ])('refuses when a link took the place of %s after the check', async (_name, swap) => {
    const checked = createWorkspacePaths(root).resolve('src/a', { for: 'read' });
    const opened = openVerifiedSync(checked, descriptors);
    closeSync(opened);
    swap();
    await expect(read(checked)).rejects.toMatchObject({ name: 'PathError', code: 'changed' });
    expect(() => openVerifiedSync(checked, descriptors)).toThrow();
  });

  it('refuses a folder that became a link, and creates nothing in its target', async () => {
    const checked = createWorkspacePaths(root).resolve('src/new/deep', { for: 'write' });
    swapFolderForLink();
    await expect(openFolder(checked, options)).rejects.toBeInstanceOf(Error);
    await expect(openFolder(join(root, 'src'), options)).rejects.toBeInstanceOf(Error);
    if (descriptors !== undefined) expect(readdirSync(join(base, 'outside'))).toEqual(['a']);
  });

  it('creates missing folders one by one, also if another process creates them first', async () => {
    const paths = [1, 2, 3, 4].map(() => openFolder(join(root, 'x/y/z'), options));
    for (const folder of await Promise.all(paths)) {
      expect(folder.path).toBe(join(root, 'x/y/z'));
      await folder.close();
    }
    expect(existsSync(join(root, 'x/y/z'))).toBe(true);
  });

  it('never creates the root itself', async () => {
    rmSync(root, { recursive: true });
    await expect(openFolder(join(root, 'a/b'), options)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(existsSync(root)).toBe(false);
  });

  it('does not wait for the writer of a named pipe', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const handle = await openVerified(join(root, 'pipe'), 'file', descriptors);
    expect((await handle.stat()).isFIFO()).toBe(true);
    await handle.close();
  });

  it('rejects with the system error for a missing file', async () => {
    await expect(read(join(root, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('opens a file that was replaced by rename during the call', async () => {
    const path = join(root, 'src/a');
    for (let round = 0; round < 50; round += 1) {
      writeFileSync(join(root, 'src/b'), 'inside');
      const [text] = await Promise.all([
        read(path).catch((error: unknown) => error),
        Promise.resolve().then(() => renameSync(join(root, 'src/b'), path)),
      ]);
      expect(text === 'inside' || text instanceof PathError).toBe(true);
    }
  });
});

describe.skipIf(findDescriptorFolder() === undefined)('a folder held open (needs /proc, as on Linux)', () => {
  it('keeps referring to the same folder after a link replaced it', async () => {
    const paths = createWorkspacePaths(root);
    const folder = await paths.openFolder(paths.resolve('src', { for: 'write' }));
    swapFolderForLink();
    await writeFile(folder.at('a'), 'written');
    expect((await folder.entries()).map((entry) => entry.name)).toEqual(['a']);
    await folder.close();
    expect(readFileSync(join(base, 'outside/a'), 'utf8')).toBe('SECRET');
    expect(readFileSync(join(root, 'old/a'), 'utf8')).toBe('written');
  });

  it('never discloses files outside while a process keeps swapping a folder for a link', async () => {
    const script = `
      const { renameSync, symlinkSync, mkdirSync } = require('node:fs');
      process.chdir(${JSON.stringify(root)});
      symlinkSync('../outside', 'trap');
      process.send('ready');
      process.on('disconnect', () => process.exit());
      const swap = () => {
        for (let n = 0; n < 200; n += 1) {
          renameSync('src', 'aside'); renameSync('trap', 'src');
          renameSync('src', 'trap'); renameSync('aside', 'src');
        }
        setImmediate(swap);
      };
      swap();`;
    const swapper = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    try {
      await new Promise((resolve) => swapper.once('message', resolve));
      const paths = createWorkspacePaths(root);
      const seen = new Map<string, number>();
      for (let round = 0; round < 3_000; round += 1) {
        const outcome = await readOnce(paths).catch(
          (error: unknown) => (error as { code?: string }).code ?? String(error),
        );
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      }
      expect([...seen.keys()]).not.toContain('SECRET');
      expect(
        [...seen.keys()].every((key) => ['inside', 'changed', 'link-outside', 'dangling-link', 'ENOENT'].includes(key)),
        String([...seen]),
      ).toBe(true);
    } finally {
      const exited = new Promise((resolve) => swapper.once('exit', resolve));
      swapper.kill('SIGKILL');
      await exited;
    }
  });

  const readOnce = async (paths: ReturnType<typeof createWorkspacePaths>) => {
    const handle = await paths.openFile(paths.resolve('src/a', { for: 'read' }));
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  };
});
