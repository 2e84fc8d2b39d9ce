import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { migrate } from './migrations.js';

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
