import { expect, it } from 'vitest';
import { eventually, testFolder, testStation, usual, type TestStation } from '../../test/station.js';
import type { StoredRun } from '../workflows/run-store.js';
import { embeddedBackend } from './embedded.js';
import { prune } from './janitor.js';
import type { StoredRecord } from './records.js';

const dayMs = 86_400_000;

/** Sends a message and resolves when its turn has ended. @returns the id of the session */
const talk = async (open: TestStation, text: string): Promise<string> => {
  const { id } = await open.station.sessions.create('acme', { agent: 'helper' });
  await open.station.send('acme', id, { text, mode: 'steer', files: [] });
  await eventually(open, async () => (await open.backend.records.get('session', id))?.body.outcome ?? undefined);
  return id;
};

it('completes at the start what a process stored in the journal, but not in the records', async () => {
  const directory = await testFolder();
  const first = await testStation({ directory });
  const { records } = first.backend;
  const seen = new Map<string, StoredRecord<'session'>>();
  records.onChange(({ kind, id }) => {
    if (kind !== 'session') return;
    void records.get('session', id).then((found) => {
      if (found && found.body.turn !== null) seen.set(id, found);
    });
  });
  const id = await talk(first, 'big');
  await eventually(first, async () => (await records.get('turn', `${id}:1`))?.body.endedAt ?? undefined);
  const ended = await records.get('session', id);
  const turn = await records.get('turn', `${id}:1`);
  // What a process leaves that is killed between the end of the journal and its records.
  const running = seen.get(id);
  expect(running?.body.turn).toBe(turn?.body.turn);
  await records.update('session', id, () => running);
  await records.update(
    'turn',
    `${id}:1`,
    (current) =>
      current && { ...current, body: { ...current.body, endedAt: null, outcome: null, usage: {}, calls: {} } },
  );
  await first.close();
  const second = await testStation({ directory });
  await eventually(second, async () => (await second.backend.records.get('session', id))?.body.outcome ?? undefined);
  await eventually(
    second,
    async () => (await second.backend.records.get('turn', `${id}:1`))?.body.endedAt ?? undefined,
  );
  expect(await second.backend.records.get('session', id)).toEqual(ended);
  expect((await second.backend.records.get('turn', `${id}:1`))?.body).toEqual(turn?.body);
  expect([...first.problems, ...second.problems]).toEqual([]);
});

it('shows no first turn as queued whose process died before it stored anything', async () => {
  const directory = await testFolder();
  const first = await testStation({ directory });
  const { id } = await first.station.sessions.create('acme', { agent: 'helper' });
  await first.backend.records.update('session', id, (current) => {
    const body = current && { ...current.body, turn: 'dead', state: 'queued' as const };
    return current && body && { ...current, body };
  });
  await first.close();
  const second = await testStation({ directory });
  const shown = await eventually(second, async () => {
    const body = (await second.backend.records.get('session', id))?.body;
    return body?.turn === null ? body : undefined;
  });
  expect(shown).toMatchObject({ state: 'idle', turns: 0, messages: 0 });
  // The next message begins the first turn.
  await second.station.send('acme', id, { text: 'Hi', mode: 'steer', files: [] });
  await eventually(second, async () => (await second.backend.records.get('session', id))?.body.outcome ?? undefined);
  expect((await second.backend.records.get('session', id))?.body).toMatchObject({ state: 'idle', turns: 1 });
  expect([...first.problems, ...second.problems]).toEqual([]);
});

const run = (id: string, endedAt: number | null): StoredRun => ({
  id,
  tenant: 'acme',
  workflow: { id: 'flow', name: 'Flow', description: '', timeout: dayMs, max_visits: 1, states: [] },
  input: {},
  state: endedAt === null ? 'running' : 'completed',
  current: null,
  visit: 1,
  startedAt: 0,
  endedAt,
  error: null,
  steps: [],
  isCancelled: false,
  owner: null,
});

it('removes sessions and runs that their store keeps no longer, except those that are in use', async () => {
  const directory = await testFolder();
  const problems: unknown[] = [];
  const onProblem = (problem: unknown): void => void problems.push(problem);
  let sweeps = 0;
  const backend = {
    ...(await embeddedBackend({ ...usual, directory, onProblem })),
    retention: { ms: dayMs, sweep: () => Promise.resolve(void (sweeps += 1)) },
  };
  const open = await testStation({ backend });
  const idle = await talk(open, 'Hi');
  const waiting = (await open.station.sessions.create('acme', { agent: 'helper' })).id;
  await open.station.send('acme', waiting, { text: 'wait', mode: 'steer', files: [] });
  await eventually(open, async () => (await backend.records.get('session', waiting))?.body.turn ?? undefined);
  const now = Date.now();
  for (const each of [run('ended', now), run('running', null)]) {
    await backend.records.insert({ kind: 'run', id: each.id, tenant: 'acme', at: now, body: { run: each } });
  }
  const left = async (after: number) => {
    const options = { backend, isRunning: () => false, keepEventsMs: dayMs, onProblem, now: () => now + after };
    await prune(options);
    const kinds = await Promise.all((['session', 'run'] as const).map(async (kind) => backend.records.list(kind)));
    return kinds.map((all) => all.map(({ id }) => id).toSorted());
  };
  expect(await left(dayMs / 2)).toEqual([[idle, waiting].toSorted(), ['ended', 'running']]);
  expect(await left(2 * dayMs)).toEqual([[waiting], ['running']]);
  expect(await backend.sessions.messages(idle)).toEqual([]);
  expect(await left(91 * dayMs)).toEqual([[waiting], []]);
  expect([sweeps, problems]).toEqual([3, []]);
  open.agent.release();
});
