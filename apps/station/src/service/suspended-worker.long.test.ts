import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { eventsOf, eventually, testFolder, testStation, usual } from '../../test/station.js';
import * as contract from '../api/contract.js';
import { postgresBackend } from './postgres.js';

/** A process that is suspended before one of its statements. */
interface Suspension {
  /** Resolves when the process is suspended. */
  readonly begun: Promise<void>;
  /** Begins to count statements. */
  start(): void;
  wake(): void;
}

/** Suspends what uses connections with this name before one of its statements, as `SIGSTOP` does. */
const suspendAt = (name: string, statement: number): Suspension => {
  const prototype = pg.Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
  const { query } = prototype;
  const waiting: (() => void)[] = [];
  let [left, isCounting] = [statement, false];
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  prototype.query = function (this: { readonly connectionParameters: { application_name?: string } }, ...given) {
    if (!isCounting || this.connectionParameters.application_name !== name) return query.apply(this, given);
    left -= 1;
    if (left > 0) return query.apply(this, given);
    begin();
    return new Promise((resolve) => {
      waiting.push(() => resolve(query.apply(this, given)));
    });
  };
  onTestFinished(() => {
    prototype.query = query;
  });
  return {
    begun,
    start: () => {
      isCounting = true;
    },
    wake: () => {
      isCounting = false;
      for (const resume of waiting.splice(0)) resume();
    },
  };
};

/** Connects to the database without the pools of the stations. */
const connectAdmin = async (databaseUrl: string): Promise<pg.Client> => {
  const admin = new pg.Client({ connectionString: databaseUrl });
  await admin.connect();
  onTestFinished(() => admin.end());
  return admin;
};

/** Statements of a worker between the message and the end of its turn. */
const statements = Array.from({ length: 14 }, (_, index) => 12 + 2 * index);

it.for(statements)('changes nothing that another worker has completed, suspended before statement %i', async (at) => {
  const directory = await testFolder();
  const schema = `station_${randomBytes(4).toString('hex')}`;
  const databaseUrl: string = inject('databaseUrl');
  const open = (name: string) =>
    postgresBackend({
      ...usual,
      databaseUrl: `${databaseUrl}?application_name=${name}`,
      schema,
      directory,
      leaseMs: 600_000,
      onProblem: () => undefined,
    });
  const suspension = suspendAt(schema, at);
  const web = await testStation({ role: 'web', backend: await open('web') });
  const first = await testStation({ role: 'worker', backend: await open(schema) });
  const token = await web.token();
  const decide = async (): Promise<void> => {
    const { id, call } = await eventually(web, async () => (await web.station.approvals.list('acme'))[0]);
    await web.call('POST', `/api/v1/approvals/${id}`, { token, body: { decision: 'once', hash: call?.hash } });
  };
  suspension.start();
  const message = { text: 'deploy staging' };
  const { body: created } = await web.call('POST', '/api/v1/sessions', {
    token,
    body: { agent: 'helper', message },
    schema: contract.session,
  });
  const url = `/api/v1/sessions/${created.id}`;
  const decided = decide();
  await suspension.begun;
  const admin = await connectAdmin(databaseUrl);
  for (const table of ['process', 'lane_worker']) {
    await admin.query(`update "${schema}".${table} set lease_until = clock_timestamp() - interval '1 s'`);
  }
  await testStation({ role: 'worker', backend: await open('second') });
  await decided;
  await web.call('POST', `${url}/messages`, { token, body: { text: 'Hello.', mode: 'followup' } });
  const state = async () => {
    const events: { readonly id: unknown; readonly type: unknown }[] = [];
    for await (const { event, id, data } of eventsOf((await web.call('GET', `${url}/events`, { token })).response)) {
      if (event !== 'turn' || data['type'] === 'model.delta') continue;
      events.push({ id, type: data['type'] });
      if (events.filter(({ type }) => type === 'turn.end').length === 2) break;
    }
    const session = await eventually(web, async () => {
      const found = (await web.backend.records.get('session', created.id))?.body;
      return found?.turn === null && found.turns >= 2 ? found : undefined;
    });
    const turns = (await web.backend.records.list('turn')).map(({ body }) => body);
    const { body } = await web.call('GET', `${url}/entries`, { token, schema: contract.entryPage });
    return { session, turns, body, events, approvals: await web.station.approvals.list('acme') };
  };
  const before = await state();
  suspension.wake();
  await first.station.drain(5_000);
  expect(await state()).toEqual(before);
  expect(before.session).toMatchObject({ turns: 2, state: 'idle', outcome: 'completed', messages: 5 });
  expect(before.turns.map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
  const types = before.events.map(({ type }) => type);
  const counts = ['turn.start', 'tool.result', 'turn.end'].map((type) => types.filter((each) => each === type).length);
  expect(counts).toEqual([2, 1, 2]);
});
