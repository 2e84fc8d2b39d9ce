import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readEntries } from '../src/read/read-entries.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'h-audit-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const entries = [
  { role: 'user', content: 'a\nb' },
  { role: 'assistant', content: '[{"ü' },
];
const forms = {
  lines: entries.map((entry) => JSON.stringify(entry)).join('\n'),
  'a list in one line': JSON.stringify(entries),
  'a list over several lines': JSON.stringify(entries, undefined, 2),
  'an object over several lines': JSON.stringify({ messages: entries }, undefined, 2),
};

it.each(Object.entries(forms))('reads %s behind blank lines and a byte order mark', async (form, text) => {
  for (const before of ['', '\ufeff', '\n \r\n', '\ufeff\t']) {
    const path = join(folder, 'transcript.json');
    await writeFile(path, `${before}${text}\n`);
    const read = [];
    for await (const batch of readEntries(path, { skippedLines: 0 }, () => undefined)) read.push(...batch);
    expect(read, `${form} behind ${JSON.stringify(before)}`).toEqual(entries);
  }
});
