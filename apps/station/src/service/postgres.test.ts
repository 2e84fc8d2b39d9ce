import { randomBytes } from 'node:crypto';
import { expect, inject, it } from 'vitest';
import { eventsOf, eventually, testFolder, testStation, usual } from '../../test/station.js';
import * as contract from '../api/contract.js';
import { postgresBackend } from './postgres.js';

it('runs turns in a worker, and serves them by web processes', async () => {
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
