/**
 * The bare loop with the least that a store of sessions in files does: a folder for the session, an exclusive lock, the
 * messages of the turn, the release. It writes twice, at the beginning and at the end, and proves nothing: a killed process
 * loses the turn and, with `mkdir` as the lock, blocks the session.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { mkdir, open, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create as createBare } from './bare.mjs';

const locks = {
  mkdir: async () => async (folder) => {
    const lock = join(folder, 'lock');
    await mkdir(lock);
    return () => rmdir(lock);
  },
  'proper-lockfile': async () => {
    const { default: lockfile } = await import('proper-lockfile');
    return (folder) => lockfile.lock(folder, { realpath: false });
  },
};

export const create = async ({ lock }) => {
  const acquire = await locks[lock]();
  const directory = mkdtempSync(join(tmpdir(), 'h-bench-'));
  const bare = createBare();
  let turns = 0;
  const openSession = async () => {
    const folder = join(directory, `session-${(turns += 1)}`);
    await mkdir(folder);
    const release = await acquire(folder);
    const journal = await open(join(folder, 'journal.jsonl'), 'a');
    await journal.appendFile(`${JSON.stringify({ role: 'user', content: 'Go.' })}\n`);
    return { journal, release };
  };
  return {
    run: async (steps, deltas) => {
      const { journal, release } = await openSession();
      const lines = [];
      const received = await bare.run(steps, deltas, (message) => void lines.push(JSON.stringify(message)));
      await journal.appendFile(`${lines.join('\n')}\n`);
      await journal.close();
      await release();
      return received;
    },
    park: async () => ({ session: await openSession(), turn: bare.park() }),
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
};
