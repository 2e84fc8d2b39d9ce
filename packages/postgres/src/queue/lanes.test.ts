import { describeLanes } from '@h/queue/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
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

describe('lanes whose statements fail for good', () => {
  const rename = async (schema: TestSchema, from: string, to: string): Promise<void> => {
    const database = schema.connect();
    // A statement may run twice.
    await database.query(
      `do $$ begin alter function ${database.name(from)} rename to ${to}; exception when undefined_function then null; end $$`,
    );
  };
  const refusal = { code: 'lane-failed', cause: { code: 'database-schema', isRetryable: false } };

  it('refuse requests with the cause, and admit later ones when it was repaired', async () => {
    const schema = testSchema();
    await rename(schema, 'lane_sync', 'gone');
    const lanes = postgresLanes(schema.connect());
    await expect(lanes.run('alice', () => 'ran')).rejects.toMatchObject(refusal);
    await expect(lanes.run('alice', () => 'ran')).rejects.toMatchObject(refusal);
    await rename(schema, 'gone', 'lane_sync');
    expect(await lanes.run('alice', () => 'ran')).toBe('ran');
  });

  it('refuse waiting requests, and release the slots that they hold when it was repaired', async () => {
    const schema = testSchema();
    const lanes = postgresLanes(schema.connect(), { concurrency: 1 });
    const others = postgresLanes(schema.connect(), { concurrency: 1 });
    const held = lanes.run('alice', async () => {
      await rename(schema, 'lane_sync', 'gone');
      await expect(lanes.detach(() => lanes.run('bob', () => 'ran'))).rejects.toMatchObject(refusal);
      // A retry is under way when the slot is released.
      await vi.waitFor(() => expect(schema.problems.length).toBeGreaterThan(1), { timeout: 10_000 });
      await rename(schema, 'gone', 'lane_sync');
      return 'held';
    });
    expect(await held).toBe('held');
    expect(await others.run('alice', () => 'ran')).toBe('ran');
  });
});
