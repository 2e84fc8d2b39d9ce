import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { interceptOperations } from '../../../../tooling/vitest/file-operations.js';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { openFileRecords } from './file-records.js';
import { fileStreams } from './file-streams.js';
import type { StoredRecord } from './records.js';

/** The open files of this process in a folder. */
const openIn = (folder: string): readonly string[] => {
  if (process.platform !== 'linux') return [];
  const links = readdirSync('/proc/self/fd').map((name) => `/proc/self/fd/${name}`);
  return links
    .filter(existsSync)
    .map((link) => readlinkSync(link))
    .filter((path) => path.startsWith(folder));
};

/** Runs work once for each file operation that it performs, which fails, and returns the number of operations. */
const failEach = async (
  [failures, when]: readonly [number, string],
  work: (heal: () => void, label: string) => Promise<void>,
): Promise<number> => {
  for (let operation = 1; ; operation += 1) {
    let reached = 0;
    let isHealed = false;
    const fail = (count: number): void => {
      if (isHealed || count < operation || count >= operation + failures) return;
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    };
    const restore = await interceptOperations(
      (count) => {
        if (!isHealed) reached = count;
        if (when === 'before') fail(count);
      },
      (count) => when === 'after' && fail(count),
    );
    try {
      await work(() => (isHealed = true), `operation ${operation}`);
    } finally {
      restore();
    }
    if (reached < operation) return operation - 1;
  }
};

const faults: readonly (readonly [string, readonly [number, string]])[] = [
  ['once', [1, 'before']],
  ['once, although it was done', [1, 'after']],
  ['and all after it', [Infinity, 'before']],
  ['and all after it, although they were done', [Infinity, 'after']],
];

const link = (id: string): StoredRecord<'link'> => ({
  kind: 'link',
  id,
  tenant: 'acme',
  at: 1,
  body: { approval: id },
});

describe('a disk on which an operation fails', () => {
  it.each(faults)('keeps confirmed records, takes rejected ones back, and continues: %s', async (_, fault) => {
    const operations = await failEach(fault, async (heal, label) => {
      const folder = temporaryFolder();
      const expected = new Set<string>();
      const records = await openFileRecords(folder).catch(() => undefined);
      if (!records) return expect(openIn(folder), label).toEqual([]);
      const ids = async (): Promise<readonly string[]> => (await records.list('link')).map(({ id }) => id).toSorted();
      const insert = (id: string): Promise<unknown> =>
        records.insert(link(id)).then(
          () => expected.add(id),
          (error: unknown) => expect(error, label).toMatchObject({ code: 'records-failed' }),
        );
      await insert('a');
      await Promise.all([insert('b'), insert('c')]);
      await records.delete('link', 'a').then(
        () => expected.delete('a'),
        () => undefined,
      );
      await insert('d');
      expect(await ids(), label).toEqual([...expected].toSorted());
      heal();
      await records.insert(link('e'));
      expect(await ids(), label).toEqual([...expected, 'e'].toSorted());
      await records.close();
      const again = await openFileRecords(folder, (problem) => expect.fail(problem.message));
      expect((await again.list('link')).map(({ id }) => id).toSorted(), label).toEqual([...expected, 'e'].toSorted());
      await again.close();
      expect(openIn(folder), label).toEqual([]);
    });
    expect(operations).toBeGreaterThan(20);
  });

  it.each(faults)(
    'shows the accepted events of a stream once, and its end: %s',
    { timeout: 120_000 },
    async (_, fault) => {
      const operations = await failEach(fault, async (heal, label) => {
        const directory = temporaryFolder();
        const streams = fileStreams(directory);
        const accepted: string[] = [];
        const shown: unknown[] = [];
        const numbers: number[] = [];
        const read = async (): Promise<void> => {
          for await (const item of streams.read('turn', { after: numbers.at(-1) ?? 0 })) {
            if (item.type === 'event') numbers.push(item.seq);
            if (item.type === 'event') shown.push(item.event);
          }
        };
        // A reader that fails connects again.
        const reading = read().catch(() => vi.waitFor(read, { timeout: 5_000 }));
        const writer = streams.write('turn');
        for (const event of ['one', 'two', 'three', 'four']) {
          await writer.append(event, { isDelta: event === 'two' }).then(
            () => accepted.push(event),
            () => undefined,
          );
          await writer.flush().catch(() => undefined);
        }
        await writer.dropDeltas();
        await writer.end('completed').catch(() => undefined);
        heal();
        await reading;
        expect(shown, label).toEqual(accepted);
        expect(numbers, label).toEqual(accepted.map((_event, index) => index + 1));
        await expect.poll(() => openIn(directory), { message: label }).toEqual([]);
        await rm(directory, { recursive: true });
      });
      expect(operations).toBeGreaterThan(5);
    },
  );
});
