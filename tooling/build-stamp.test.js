import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isBuilt, markBuilt } from './build-stamp.js';

/** Sets modification times explicitly, in seconds, so that the test does not depend on its speed. */
const at = async (/** @type {string} */ path, /** @type {number} */ seconds) => utimes(path, seconds, seconds);

describe('isBuilt', () => {
  /** @type {string} */
  let root;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'build-stamp-'));
    await mkdir(join(root, 'packages/a/src'), { recursive: true });
    await mkdir(join(root, 'packages/a/dist'), { recursive: true });
    await mkdir(join(root, 'apps'), { recursive: true });
    await writeFile(join(root, 'packages/a/src/index.ts'), '');
    for (const path of ['packages/a/src/index.ts', 'packages/a/src']) await at(join(root, path), 1000);
  });

  afterEach(() => rm(root, { recursive: true }));

  it('returns false before the first build', async () => {
    expect(await isBuilt(root, 'coder')).toBe(false);
  });

  it('returns true while nothing changes', async () => {
    await markBuilt(root, 'coder', 2_000_000);
    expect(await isBuilt(root, 'coder')).toBe(true);
  });

  it.each([
    ['a source changes', 'packages/a/src/index.ts'],
    ['a file is removed, which changes its folder', 'packages/a/src'],
  ])('returns false when %s', async (_, path) => {
    await markBuilt(root, 'coder', 2_000_000);
    await at(join(root, path), 3000);
    expect(await isBuilt(root, 'coder')).toBe(false);
  });

  it('returns false when an output is missing or a dependency changes', async () => {
    await markBuilt(root, 'coder', 2_000_000);
    await rm(join(root, 'packages/a/dist'), { recursive: true });
    expect(await isBuilt(root, 'coder')).toBe(false);
    await mkdir(join(root, 'packages/a/dist'));
    expect(await isBuilt(root, 'coder')).toBe(true);
    await writeFile(join(root, 'pnpm-lock.yaml'), '');
    expect(await isBuilt(root, 'coder')).toBe(false);
  });
});
