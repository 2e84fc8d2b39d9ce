/** A process for tests with several processes: `<work> <folder> <number>`. Reports its progress as lines of JSON. */
import { readFileSync, writeSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { acquireLock, createFolder, replaceFile, withLock } from '../src/index.js';
import { interceptOperations } from '../../../tooling/vitest/file-operations.js';

const [, , work = '', folder = '', number = ''] = process.argv;

/** Written synchronously, so that a process that is killed next has reported it. */
const report = (what: object): void => void writeSync(1, `${JSON.stringify(what)}\n`);

const failureOf = (error: unknown): object => ({ code: (error as { code?: unknown }).code, message: String(error) });

const works: Readonly<Record<string, () => Promise<void>>> = {
  hold: async () => {
    await acquireLock(join(folder, 'lock'));
    report({ holds: process.pid });
    setInterval(() => undefined, 1000);
  },

  // Increments a counter in two steps, which loses increments if two processes hold the lock.
  count: async () => {
    const file = join(folder, 'count');
    for (let turn = 0; turn < Number(number); turn += 1) {
      await withLock(join(folder, 'lock'), { waitMs: 60_000 }, async (lock) => {
        const next = Number(readFileSync(file, 'utf8')) + 1;
        await lock.replaceFile(file, String(next), { sync: false });
        report({ counted: next });
      });
    }
  },

  // Acts as another machine, and is suspended before one of its operations.
  suspend: async () => {
    os.hostname = () => 'elsewhere';
    const file = join(folder, 'locked/file');
    await interceptOperations((operation) => {
      if (operation !== Number(number)) return;
      report({ suspended: true });
      process.kill(process.pid, 'SIGSTOP');
    });
    try {
      const lock = await acquireLock(join(folder, 'locked'), { leaseMs: 100 });
      await lock.settle();
      await lock.replaceFile(file, 'late', { sync: false });
      await lock.removeFile(file);
      await lock.replaceFile(file, 'later', { sync: false });
      await (Number(process.argv[5]) === 1 ? lock.removeFolder() : lock.release());
    } catch (error) {
      report(failureOf(error));
    }
    report({ done: true });
  },

  // Is killed before one of its operations.
  replace: async () => {
    await interceptOperations((operation) => {
      if (operation === Number(number)) process.kill(process.pid, 'SIGKILL');
    });
    await replaceFile(join(folder, 'file'), ['new ', 'content']);
    await createFolder(join(folder, 'made'), { a: 'content of a', b: 'content of b' });
    report({ done: true });
  },
};

void works[work]?.();
