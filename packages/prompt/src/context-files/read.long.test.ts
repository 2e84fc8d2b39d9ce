import { readWhileSwapped } from '@h/paths/testing';
import { expect, it } from 'vitest';
import { readInside } from './read.js';

it.skipIf(process.platform !== 'linux')('never reads outside while the folder is swapped for a link', async () => {
  const { inside, outside } = await readWhileSwapped(async (file, root) => {
    const { result } = await readInside(file, root, 1_000, undefined);
    return result.ok ? result.text : 'refused';
  });
  expect(outside).toBe(0);
  expect(inside).toBeGreaterThan(0);
});
