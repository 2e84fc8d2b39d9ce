import { Pool } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { testSchema } from '../test/database.js';
import { connectPostgres } from './index.js';

describe('connectPostgres', () => {
  it.each(['localhost', 'host=localhost dbname=agents', 'mysql://localhost/agents', 'http://localhost:5432/agents'])(
    'rejects the connection string %s',
    (connectionString) => {
      expect(() => connectPostgres({ connectionString })).toThrow('"connectionString" must be a URL');
    },
  );

  it.each(['postgres://user:a%20b@host/name', 'postgresql:///name', 'POSTGRES://host', '/var/run/postgresql name'])(
    'accepts the connection string %s',
    async (connectionString) => {
      await connectPostgres({ connectionString }).close();
    },
  );

  it('rejects a pool whose only connection would listen for notifications', () => {
    const pool = new Pool({ max: 1 });
    onTestFinished(() => pool.end());
    expect(() => connectPostgres({ pool })).toThrow('"pool" must have at least 2 connections; received "max": 1.');
  });

  it('rejects a label that the database cannot store', () => {
    expect(() => connectPostgres({ label: 'worker\0' })).toThrow('"label" must be a non-empty string without NUL');
  });

  it('removes the rows of processes that died more than a day ago', async () => {
    const schema = testSchema();
    const database = schema.connect();
    await database.lease();
    const die = (days: number): Promise<unknown> =>
      database.query(
        `insert into ${database.name('process')} (id, label, lease_until)
         select gen_random_uuid(), 'dead for ${days} days', now() - ${days} * interval '1 day' from generate_series(1, 9)`,
      );
    await die(2);
    await die(0.5);
    await schema.connect({ label: 'next' }).lease();
    const rows = await database.query(`select distinct label from ${database.name('process')} order by label`);
    expect(rows).toEqual([{ label: 'dead for 0.5 days' }, { label: 'next' }, { label: `process ${process.pid}` }]);
  });
});
