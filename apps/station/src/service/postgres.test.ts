import { randomBytes } from 'node:crypto';
import { expect, inject, it, vi } from 'vitest';
import { eventsOf, eventually, testFolder, testStation, usual } from '../../test/station.js';
import * as contract from '../api/contract.js';
import type { Backend } from './backend.js';
import { postgresBackend } from './postgres.js';

/** A backend that writes no records and events any more when `die()` is called, as that of a process that is killed. */
const mortal = (backend: Backend): Backend & { die(): void } => {
  let isDead = false;
  const dying = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (object, name) => {
        const found: unknown = Reflect.get(object, name);
        if (typeof found !== 'function') return found;
        return (...given: unknown[]): unknown => {
          if (name === 'write') return dying(Reflect.apply(found, object, given) as object);
          return isDead && name !== 'close' ? Promise.reject(new Error('dead')) : Reflect.apply(found, object, given);
        };
      },
    });
  return {
    ...backend,
    records: dying(backend.records),
    events: dying(backend.events),
    die: () => {
      isDead = true;
    },
  };
};

/** Returns what opens a backend several times, as several processes do, and the problems of all of them. */
const sharedBackend = async () => {
  const directory = await testFolder();
  const schema = `station_${randomBytes(4).toString('hex')}`;
  const problems: unknown[] = [];
  const open = () =>
    postgresBackend({
      ...usual,
      databaseUrl: inject('databaseUrl'),
      schema,
      directory,
      leaseMs: 2_000,
      onProblem: (problem) => problems.push(problem),
    });
  return { open, problems };
};

it('runs turns in a worker, and serves them by web processes', async () => {
  const { open, problems } = await sharedBackend();
  const worker = await testStation({ role: 'worker', backend: await open() });
  const web = await testStation({ role: 'web', backend: await open() });
  const other = await testStation({ role: 'web', backend: await open() });
  const token = await web.token();
  const { body: created } = await web.call('POST', '/api/v1/sessions', {
    token,
    body: { agent: 'helper', message: { text: 'deploy staging' } },
    schema: contract.session,
  });
  const approval = await eventually(other, async () => (await other.station.approvals.list('acme'))[0]);
  const streaming = other.call('GET', `/api/v1/sessions/${created.id}/events`, { token });
  const decided = await web.call('POST', `/api/v1/approvals/${approval.id}`, {
    token,
    body: { decision: 'once', hash: approval.call?.hash },
  });
  expect(decided.status).toBe(200);
  const types: unknown[] = [];
  for await (const { event, data } of eventsOf((await streaming).response)) {
    if (event === 'turn') types.push(data['type']);
    if (data['type'] === 'turn.end') break;
  }
  for (const once of ['turn.start', 'session.loaded', 'approval.answer', 'tool.result', 'turn.end']) {
    expect(types.filter((type) => type === once)).toEqual([once]);
  }
  const session = await eventually(other, async () => {
    const found = (await other.backend.records.get('session', created.id))?.body;
    return found?.outcome === null ? undefined : found;
  });
  expect(session).toMatchObject({ outcome: 'completed', turns: 1 });
  const entries = await other.call('GET', `/api/v1/sessions/${created.id}/entries`, {
    token,
    schema: contract.entryPage,
  });
  expect(JSON.stringify(entries.body)).toContain('deployed to staging');
  await worker.close();
  expect(problems).toEqual([]);
});

it('completes the records and events of a turn whose worker died at its end, before the next turn begins', async () => {
  const { open, problems } = await sharedBackend();
  const dead = mortal(await open());
  const first = await testStation({ role: 'worker', backend: dead });
  const web = await testStation({ role: 'web', backend: await open() });
  const token = await web.token();
  const { body: created } = await web.call('POST', '/api/v1/sessions', {
    token,
    body: { agent: 'helper', message: { text: 'wait' } },
    schema: contract.session,
  });
  const { id } = created;
  await eventually(web, async () => (await web.backend.records.get('turn', `${id}:1`))?.body);
  await vi.waitUntil(() => first.agent.waiting > 0, { timeout: 30_000 });
  const second = await testStation({ role: 'worker', backend: await open() });
  dead.die();
  first.agent.release();
  void first.station.drain(0);
  const url = `/api/v1/sessions/${id}/messages`;
  await web.call('POST', url, { token, body: { text: 'Hello.', mode: 'followup' } });
  const streaming = await web.call('GET', `/api/v1/sessions/${id}/events`, { token });
  const ends: unknown[] = [];
  for await (const { event, data } of eventsOf(streaming.response)) {
    if (event === 'turn' && data['type'] === 'turn.end') ends.push(data['outcome']);
    if (ends.length === 2) break;
  }
  expect(ends).toEqual(['completed', 'completed']);
  const session = await eventually(web, async () => {
    const found = (await web.backend.records.get('session', id))?.body;
    return found?.turn === null && found.turns === 2 ? found : undefined;
  });
  expect(session).toMatchObject({ outcome: 'completed', state: 'idle', messages: 4 });
  const turn = await web.backend.records.get('turn', `${id}:1`);
  expect(turn?.body).toMatchObject({ outcome: 'completed', endedAt: expect.any(Number) as number });
  await second.close();
  expect(problems).toEqual([]);
});
