import { queue } from '@h/queue';
import { harness, repairHistory, textOf } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { Pool } from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { createSchema } from '../test/database.js';
import { liveEvents, postgresSessions } from './index.js';
import { postgresInbox, postgresLanes } from './queue/index.js';
import { runWorker } from './worker.js';

/** A pool of which one statement fails once with an error that is not retried. */
const failingPool = (url: string, failing: number, isRun: boolean) => {
  const pool = new Pool({ connectionString: url, max: 4 });
  const query = pool.query.bind(pool) as unknown as (given: object) => Promise<unknown>;
  let count = 0;
  const faulty = async (given: object): Promise<unknown> => {
    count += 1;
    if (count !== failing) return query(given);
    if (isRun) await query(given);
    throw Object.assign(new Error('Injected.'), { code: 'XX000' });
  };
  return { pool: Object.assign(pool, { query: faulty }), hasFailed: () => count >= failing };
};

/**
 * Runs two messages of a session in a worker of which one statement fails. @returns `false` if it made fewer statements
 */
const runTwoMessages = async (failing: number, isRun: boolean): Promise<boolean> => {
  const schema = createSchema();
  const { pool, hasFailed } = failingPool(schema.url, failing, isRun);
  // What could not be released is released after a renewal of the lease.
  const database = schema.connect({ pool, leaseMs: 3_000 });
  const sessions = postgresSessions(database);
  const lanes = postgresLanes(database, { concurrency: 2, graceMs: 0 });
  const answers = ['c1', 'c2', 'c3', 'c4'].flatMap((id) => [response(call(id, 'write')), `After ${id}.`]);
  const tools = scriptedTools({ write: 'written' });
  const agent = harness({ model: scriptedModel(answers), sessions, tools, closeGraceMs: 100 }).pipe(queue(lanes));
  const ended: string[] = [];
  const worker = runWorker({
    agent,
    lanes,
    sessions,
    inbox: () => postgresInbox(database),
    live: liveEvents(database),
    recoverEveryMs: 50,
    signals: [],
    onEvent: (event) => void (event.type === 'turn.end' && ended.push(event.turn)),
  });
  const web = schema.connect();
  const stored = postgresSessions(web);
  const inbox = postgresInbox(web);
  await inbox.submit('alice', 'first', { id: 'm1' });
  await vi.waitFor(() => expect(ended.length).toBeGreaterThan(0), { timeout: 20_000 });
  await inbox.submit('alice', 'next', { id: 'm2' });
  await vi.waitFor(
    async () => {
      const messages = await stored.messages('alice');
      const inputs = messages.filter(({ role }) => role === 'user').map(textOf);
      expect(inputs.toSorted(), `statement ${failing}`).toEqual(['first', 'next']);
      expect((await stored.list()).map(({ state }) => state)).toEqual(['idle']);
      expect(repairHistory(messages).repairs).toEqual([]);
    },
    { timeout: 20_000 },
  );
  const ran = tools.ran.map(({ id }) => id);
  expect(new Set(ran).size, `statement ${failing} runs ${ran.join(', ')}`).toBe(ran.length);
  await worker.drain();
  await database.close();
  await pool.end();
  await schema.dispose();
  return hasFailed();
};

describe('a worker', () => {
  it.each([
    ['before it runs', false],
    ['after it has run', true],
  ])('delivers all messages when any one statement fails %s', { timeout: 300_000 }, async (_, isRun) => {
    let statement = 1;
    const runNext = async (): Promise<void> => {
      for (let isNew = true; isNew;) isNew = await runTwoMessages(statement++, isRun);
    };
    await Promise.all(Array.from({ length: 4 }, runNext));
    expect(statement).toBeGreaterThan(40);
  });
});
