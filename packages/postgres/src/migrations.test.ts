import type { Pool } from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testSchema } from '../test/database.js';
import { migrate } from './migrations.js';

it('creates the tables in a schema of a role that may not create schemas', async () => {
  const { schema, connect, url } = testSchema();
  const admin = connect({ schema: 'public' }).settings.pool;
  await admin.query(`create role ${schema} login password 'role'`);
  await admin.query(`create schema ${schema} authorization ${schema}`);
  const server = Object.assign(new URL(url), { username: schema, password: 'role' });
  await connect({ connectionString: server.href }).ready();
  await admin.query(`drop schema ${schema} cascade; drop role ${schema}`);
});

it('gives up a connection that does not answer, without another statement on it', async () => {
  const statements: string[] = [];
  const released: unknown[] = [];
  const client = {
    on: () => client,
    off: () => client,
    query: ({ text }: { readonly text: string }) => {
      statements.push(text.split(' ', 1)[0] ?? '');
      return Promise.reject(new Error('Query read timeout'));
    },
    release: (error: unknown) => released.push(error),
  };
  const pool = { connect: async () => client } as unknown as Pool;
  await expect(migrate(pool, 'h')).rejects.toMatchObject({ code: 'database-timeout' });
  expect(statements).toEqual(['select']);
  expect(released).toEqual([expect.objectContaining({ code: 'database-timeout' })]);
});

const tooNew = { code: 'database-schema', message: expect.stringContaining('version 99') as string };

it('rejects tables that a later release creates while this one waits to create them', async () => {
  const { schema, connect } = testSchema();
  const admin = connect({ schema: 'public' }).settings.pool;
  const later = await admin.connect();
  onTestFinished(() => later.release());
  await later.query('begin');
  await later.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`h:${schema}`]);
  const { pool } = connect().settings;
  const migrating = migrate(pool, schema);
  const refused = expect(migrating).rejects.toMatchObject(tooNew);
  const waiting = `select 1 from pg_stat_activity where application_name = '${schema}' and wait_event = 'advisory'`;
  await vi.waitUntil(async () => (await admin.query(waiting)).rows.length > 0, { timeout: 20_000 });
  await later.query(`create schema ${schema}`);
  await later.query(`create table ${schema}.migration (version integer primary key, since integer not null)`);
  await later.query(`insert into ${schema}.migration values (99, 99)`);
  await later.query('commit');
  await refused;
});

it.each([
  ['rejects all statements', { since: 99, isRefused: true }],
  ['continues', { since: 1, isRefused: false }],
] as const)('%s when a later release changes the tables while this one runs', async (_, { since, isRefused }) => {
  const database = testSchema().connect({ leaseMs: 500 });
  await database.lease();
  const sql = `insert into ${database.name('migration')} (version, since) values (99, ${since})`;
  await database.query(sql);
  let renewals = 0;
  database.onRenewal(() => (renewals += 1));
  if (isRefused) {
    const failure = async () => database.query('select 1').then(String, (error: unknown) => error);
    await vi.waitUntil(async () => (await failure()) instanceof Error, { timeout: 20_000 });
    await expect(database.query('select 1')).rejects.toMatchObject(tooNew);
  } else {
    await vi.waitUntil(() => renewals > 1, { timeout: 20_000 });
    await database.query('select 1');
  }
});
