import { readWhileSwapped } from '@h/paths/testing';
import { expect, it } from 'vitest';
import { readText } from './read-file.js';

it.skipIf(process.platform !== 'linux')('never reads outside while the folder is swapped for a link', async () => {
  const { inside, outside } = await readWhileSwapped(async (file, root) => (await readText(file, root, 1_000)).text);
  expect(outside).toBe(0);
  expect(inside).toBeGreaterThan(0);
});
