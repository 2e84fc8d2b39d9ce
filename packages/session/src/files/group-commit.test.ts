import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { GroupCommit, OpenFiles } from './group-commit.js';

const held = { check: () => Promise.resolve() };

/** The names of open files in a folder. */
const openIn = (folder: string): readonly string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return path.startsWith(folder) ? [path.slice(folder.length + 1)] : [];
    } catch {
      return [];
    }
  });

it.runIf(process.platform === 'linux')('keeps 256 files open, and closes the oldest that is not written', async () => {
  const folder = temporaryFolder();
  const files = new OpenFiles();
  const open = (name: string, lock = held): GroupCommit =>
    new GroupCommit({ path: join(folder, name), lock, files, newIn: [] });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const busy = open('busy', { check: () => released });
  const written = busy.append('first', false);
  await expect.poll(() => openIn(folder)).toEqual(['busy']);
  const all = Array.from({ length: 260 }, (_, index) => open(String(index)));
  for (const journal of all) await journal.append('first', false);
  // The oldest ones after the busy one are closed, and opened again by the next line.
  const expected = ['busy', ...all.map((_, index) => String(index)).slice(5)];
  expect(openIn(folder).toSorted()).toEqual(expected.toSorted());
  release();
  await written;
  await Promise.all([busy, ...all].map((journal) => journal.append('second', false)));
  await Promise.all([busy, ...all].map((journal) => journal.close()));
  expect(openIn(folder)).toEqual([]);
  for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name), 'utf8')).toBe('first\nsecond\n');
});

it.each([
  ['the reason of a lock that was lost', () => Promise.reject(new Error('taken over')), 'taken over'],
  ['its own reason if the lock is held', held.check, 'ENOENT'],
])('fails with %s if the file cannot be opened', async (_, check, reason) => {
  const path = join(temporaryFolder(), 'missing', 'journal.jsonl');
  const journal = new GroupCommit({ path, lock: { check }, files: new OpenFiles(), newIn: [] });
  await expect(journal.append('line', false)).rejects.toThrow(reason);
  await expect(journal.append('line', false)).rejects.toThrow(reason);
  await journal.close();
});
