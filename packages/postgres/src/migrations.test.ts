import type { Pool } from 'pg';
import { expect, it } from 'vitest';
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
