import { Pool, type PoolClient } from 'pg';
import { expect, inject, it, onTestFinished, vi } from 'vitest';
import { testSchema } from '../test/database.js';

/** A pool that loses `listen`, as a pooler in transaction mode does: the statement succeeds on a shared connection. */
const poolWithoutListen = (): Pool => {
  const pool = new Pool({ connectionString: inject('databaseUrl'), max: 3 });
  pool.on('connect', (client: PoolClient) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    const without = (given: unknown, ...rest: unknown[]): unknown => {
      const isListen = (given as { readonly text?: string }).text?.startsWith('listen') === true;
      return query(isListen ? { ...(given as object), text: 'select 1' } : given, ...rest);
    };
    Object.assign(client, { query: without });
  });
  onTestFinished(() => pool.end());
  return pool;
};

it('rejects all statements when no notification arrives, after it has called the subscribers', async () => {
  const pool = poolWithoutListen();
  const { connect, problems } = testSchema();
  const database = connect({ pool });
  await database.ready();
  let failure: unknown;
  database.listen('topic', () => {
    database.query('select 1').catch((error: unknown) => (failure = error));
  });
  await vi.waitUntil(() => failure !== undefined, { timeout: 25_000 });
  expect(failure).toMatchObject({ code: 'database-pooler', isRetryable: false });
  expect(problems.map(({ code }) => code)).toContain('database-pooler');
});

it('accepts a server whose notifications arrive', async () => {
  const { connect, problems } = testSchema();
  const [database, other] = [connect(), connect()];
  await Promise.all([database.ready(), other.ready()]);
  let notices = 0;
  database.listen('topic', () => (notices += 1));
  await vi.waitUntil(() => notices > 0, { timeout: 20_000 });
  // Longer than the check of the connection.
  for (let sent = 1; sent <= 20; sent += 1) await other.query('select pg_notify($1, $2)', [database.channel, 'topic']);
  await vi.waitUntil(() => notices > 1, { timeout: 20_000 });
  await database.query('select 1');
  expect(problems).toEqual([]);
});
