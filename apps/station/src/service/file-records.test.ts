import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openFileRecords } from './file-records.js';
import type { RecordsError, StoredRecord } from './records.js';

const link = (id: string): StoredRecord<'link'> => ({
  kind: 'link',
  id,
  tenant: 'acme',
  at: 1,
  body: { approval: id },
});

const folderOf = async (ids: readonly string[]): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'h-records-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const records = await openFileRecords(folder);
  for (const id of ids) await records.insert(link(id));
  await records.close();
  return folder;
};

const reopen = async (folder: string) => {
  const problems: RecordsError[] = [];
  const records = await openFileRecords(folder, (problem) => problems.push(problem));
  const ids = (await records.list('link')).map(({ id }) => id);
  await records.close();
  return { ids, problems };
};

it('drops a torn last line without a report', async () => {
  const folder = await folderOf(['a', 'b']);
  await appendFile(join(folder, 'records.jsonl'), '{"kind":"link","id":"c","ten');
  expect(await reopen(folder)).toEqual({ ids: ['a', 'b'], problems: [] });
});

it('reports a damaged line, keeps the others and a copy of the file', async () => {
  const folder = await folderOf(['a', 'b', 'c']);
  const path = join(folder, 'records.jsonl');
  const damaged = (await readFile(path, 'utf8')).replace('"id":"b"', '"id:"b"');
  await writeFile(path, damaged);
  const { ids, problems } = await reopen(folder);
  expect(ids).toEqual(['a', 'c']);
  expect(problems).toMatchObject([
    { code: 'records-damaged', message: expect.stringContaining('1 lines of') as string },
  ]);
  const backup = (await readdir(folder)).find((name) => name.includes('.damaged-')) ?? '';
  expect(await readFile(join(folder, backup), 'utf8')).toBe(damaged);
  expect((await reopen(folder)).problems).toEqual([]);
});

it('rejects changes from the call of close() on, and stores those before it', async () => {
  const folder = await folderOf([]);
  const records = await openFileRecords(folder);
  const stored = records.insert(link('a'));
  const closed = records.close();
  const late = expect(records.insert(link('b'))).rejects.toMatchObject({ code: 'records-closed' });
  await Promise.all([stored, closed, late]);
  expect(await reopen(folder)).toEqual({ ids: ['a'], problems: [] });
});
