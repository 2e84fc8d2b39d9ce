import { randomBytes } from 'node:crypto';
import { connectPostgres } from '@h/postgres';
import fc from 'fast-check';
import { expect, inject, it, onTestFinished } from 'vitest';
import { eventsOf, eventually, testFolder, testStation } from '../../test/station.js';
import * as contract from '../api/contract.js';
import { postgresBackend } from './postgres.js';
import { openPostgresRecords } from './postgres-records.js';
import type { Records, SessionBody } from './records.js';

it('changes records of several processes without losing or inventing a change', async () => {
  const schema = `station_${randomBytes(4).toString('hex')}`;
  const open = async () => {
    const database = connectPostgres({ connectionString: inject('databaseUrl'), schema });
    onTestFinished(() => database.close());
    const records = await openPostgresRecords(database);
    onTestFinished(() => records.close());
    return records;
  };
  const processes = await Promise.all([open(), open()]);
  const seen = new Set<string>();
  processes[1].onChange(({ id, isDeleted }) => void seen.add(`${id} ${isDeleted}`));
  const recordOf = (id: string, turns: number) => ({
    kind: 'session' as const,
    id,
    tenant: 'acme',
    at: turns,
    body: { turns } as SessionBody,
  });
  const step = fc.record({
    index: fc.nat({ max: 1 }),
    kind: fc.constantFrom('add', 'burst', 'read', 'delete', 'insert', 'refuse'),
  });
  let last = '';
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (steps) => {
      const id = randomBytes(6).toString('hex');
      let model: number | undefined;
      const add = (records: Records) =>
        records.update('session', id, (current) => current && recordOf(id, current.body.turns + 1));
      for (const { index, kind } of steps) {
        const records = processes[index] ?? processes[0];
        if (kind === 'add') {
          if (model !== undefined) model += 1;
          expect((await add(records))?.body.turns).toBe(model);
        } else if (kind === 'burst') {
          await Promise.all([...processes, ...processes].map(add));
          if (model !== undefined) model += 4;
        } else if (kind === 'read') {
          expect((await records.get('session', id))?.body.turns).toBe(model);
        } else if (kind === 'refuse') {
          const found = await records.update('session', id, () => undefined);
          expect(found?.body.turns).toBe(model);
        } else if (kind === 'delete') {
          await records.delete('session', id);
          model = undefined;
        } else {
          expect(await records.insert(recordOf(id, 0))).toBe(model === undefined);
          model ??= 0;
        }
      }
      last = id;
    }),
    { numRuns: 15 },
  );
  await processes[0].delete('session', last);
  await processes[0].insert(recordOf(last, 1));
  await expect.poll(() => seen.has(`${last} false`)).toBe(true);
});

it('runs turns in a worker, and serves them by web processes', async () => {
  const directory = await testFolder();
  const schema = `station_${randomBytes(4).toString('hex')}`;
  const problems: unknown[] = [];
  const open = () =>
    postgresBackend({
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
