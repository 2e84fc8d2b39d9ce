import { describeLanes } from '@h/queue/testing';
import { afterEach, expect, it } from 'vitest';
import { createSchema, testSchema, type TestSchema } from '../../test/database.js';
import { postgresLanes } from './index.js';

const schemas: TestSchema[] = [];
afterEach(async () => {
  await Promise.all(schemas.splice(0).map((schema) => schema.dispose()));
});

describeLanes(({ concurrency, reservedForeground = 0 }) => {
  const schema = createSchema();
  schemas.push(schema);
  return postgresLanes(schema.connect(), { concurrency, reservedForeground });
});

it('admits requests of a group whose limit is larger than an integer of the database', async () => {
  const lanes = postgresLanes(testSchema().connect(), { groups: { user: { concurrency: 5_000_000_000 } } });
  expect(await lanes.run('alice', () => 'ran', { groups: { user: 'bob' } })).toBe('ran');
});
