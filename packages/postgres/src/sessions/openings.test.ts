import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { event, user } from '@h/turn/testing';
import { expect, it, onTestFinished } from 'vitest';
import { testSchema } from '../../test/database.js';
import { toPostgresError } from '../errors.js';
import { postgresSessions } from '../index.js';
import { createOpening } from './openings.js';

it('opens few of many sessions at a time, so that records of open ones do not wait for all', async () => {
  const schema = testSchema();
  const pool = new Pool({ connectionString: schema.url, max: 2 });
  onTestFinished(() => pool.end());
  const query = pool.query.bind(pool) as unknown as (given: object) => Promise<unknown>;
  const running = { now: 0, most: 0 };
  const counted = async (given: object): Promise<unknown> => {
    running.now += 1;
    running.most = Math.max(running.most, running.now);
    return query(given).finally(() => (running.now -= 1));
  };
  const sessions = postgresSessions(schema.connect({ pool: Object.assign(pool, { query: counted }) }));
  const first = await sessions.open('first');
  const opened: unknown[] = [];
  const all = Array.from({ length: 200 }, async (_, index) => opened.push(await sessions.open(`session ${index}`)));
  const start = event('turn.start', { session: 'first', input: [user('Hi')], trigger: 'user' });
  await first.append({ v: 1, seq: 0, event: start, derived: false });
  expect(opened.length).toBeLessThan(100);
  await Promise.all(all);
  // Each is loaded by two statements.
  expect(running.most).toBeLessThanOrEqual(2 * 16 + 1);
});

it('fails those that have waited through an outage, and opens later ones', async () => {
  const opening = createOpening(100);
  const failing = async (): Promise<never> => {
    await delay(100);
    throw toPostgresError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  };
  const before = performance.now();
  const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => opening(failing)));
  // One after the other, 16 at a time, they would take 1,300 ms.
  expect(performance.now() - before).toBeLessThan(1_000);
  expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true);
  await expect(opening(() => Promise.resolve('opened'))).resolves.toBe('opened');
});

it('attempts each of those that have waited, if nothing is retried', async () => {
  const opening = createOpening(0);
  let attempts = 0;
  const attempt = async (): Promise<void> => {
    attempts += 1;
    await delay(1);
    if (attempts <= 16) throw toPostgresError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
  };
  await Promise.allSettled(Array.from({ length: 40 }, () => opening(attempt)));
  expect(attempts).toBe(40);
});
