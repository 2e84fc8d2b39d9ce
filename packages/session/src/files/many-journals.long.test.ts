import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageList } from '@h/turn';
import { event } from '@h/turn/testing';
import { expect, it, onTestFinished } from 'vitest';
import { fileSessions } from '../index.js';

it.runIf(process.platform === 'linux')(
  'opens, writes and closes any number of sessions with few open files',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'h-records-'));
    let isDone = false;
    onTestFinished(() => {
      isDone = true;
      rmSync(directory, { recursive: true, force: true });
    });
    const sessions = fileSessions({ directory });
    let most = 0;
    const look = (): void => {
      most = Math.max(most, readdirSync('/proc/self/fd').length);
      if (!isDone) setImmediate(look);
    };
    const before = readdirSync('/proc/self/fd').length;
    look();
    const names = Array.from({ length: 1_000 }, (_, index) => `s${index}`);
    const turnOf = async (session: string): Promise<void> => {
      const open = await sessions.open(session);
      const start = { session, input: [], trigger: 'user', priority: 'normal', metadata: {} } as const;
      const records = [event('turn.start', start), event('turn.stop', { outcome: 'completed' })];
      await Promise.all(
        records.map(async (each, seq) => open.append({ v: 1, seq, event: { ...each, turn: session }, derived: false })),
      );
      await open.close();
    };
    await Promise.all(names.map(turnOf));
    isDone = true;
    expect(most - before).toBeLessThan(256 + 2 * (64 + 16));
    expect((await sessions.list()).map(({ session }) => session).toSorted()).toEqual(names.toSorted());
  },
);

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
