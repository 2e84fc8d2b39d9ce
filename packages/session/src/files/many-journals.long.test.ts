import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageList } from '@h/turn';
import { event } from '@h/turn/testing';
import { expect, it, onTestFinished } from 'vitest';
import { fileSessions } from '../index.js';

it('appends to journals that were closed because too many were open', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'h-records-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const sessions = fileSessions({ directory, fsync: 'never' });
  const all = await Promise.all(Array.from({ length: 300 }, (_, index) => sessions.open(`s${index}`)));
  const request = { step: 1, attempt: 1, messages: MessageList.empty, system: [], tools: [], tail: [], settings: {} };
  for (const seq of [0, 1]) {
    const record = { v: 1, seq, event: event('model.request', request), derived: false } as const;
    await Promise.all(all.map(async (each) => each.append(record)));
  }
  await Promise.all(all.map(async (each) => each.close()));
  const lines = readdirSync(directory).map(
    (name) =>
      readFileSync(join(directory, name, 'journal.jsonl'), 'utf8')
        .trimEnd()
        .split('\n').length,
  );
  expect(lines).toEqual(Array.from({ length: 300 }, () => 2));
});
