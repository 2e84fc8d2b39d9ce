import { queue } from '@h/queue';
import { harness } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { testSchema } from '../test/database.js';
import { postgresApprovalRequests } from './approvals.js';
import { liveEvents, postgresSessions } from './index.js';
import { postgresInbox, postgresLanes } from './queue/index.js';
import { runWorker } from './worker.js';

const idleSessions = 10_000;

/** Adds sessions of one ended turn each, with the delivered message and the ended stream. */
const idleRows = (name: (table: string) => string): readonly string[] => [
  `insert into ${name('session')} (key, name, fence, turns, created_at, updated_at, first_input, latest_turn, latest_key,
     latest_started, has_ended, bytes)
   select 's' || n, 's' || n, 1, 1, n, n, 'Hi', 't' || n, 't' || n, n, true, 2000 from generate_series(1, $1) n`,
  `insert into ${name('turn')} (session, ordinal, key, name, started_at, outcome)
   select id, 0, latest_key, latest_turn, 1, 'completed' from ${name('session')} limit $1`,
  `insert into ${name('record')} (session, turn, seq, body) select id, 0, 0, '{}' from ${name('session')} limit $1`,
  `insert into ${name('inbox_message')} (inbox, session, id, delivery)
   select 'inbox', 's' || n, 'm', '{}' from generate_series(1, $1) n`,
  `insert into ${name('stream')} (key, name, fence, writer, status, ended_at)
   select 't' || n, 't' || n, 1, gen_random_uuid(), 'completed', now() from generate_series(1, $1) n`,
];

describe('idle sessions', () => {
  it('cost a worker no statement and no row that it reads, when there are 10,000', async () => {
    const schema = testSchema();
    const database = schema.connect();
    const sessions = postgresSessions(database);
    const lanes = postgresLanes(database, { concurrency: 2 });
    const statements: { readonly sql: string; readonly rows: number }[] = [];
    const query = database.query.bind(database);
    database.query = async <Row extends object>(...[sql, ...rest]: Parameters<typeof query>) => {
      const rows = await query<Row>(sql, ...rest);
      statements.push({ sql, rows: rows.length });
      return rows;
    };
    const isFirst = ({ sql }: { readonly sql: string }): boolean => sql.includes('where not has_ended');
    /** The statements of complete searches that began after this call. */
    const rounds = async () => {
      statements.length = 0;
      await vi.waitFor(() => expect(statements.filter(isFirst).length).toBeGreaterThan(3), { timeout: 30_000 });
      const from = statements.flatMap((statement, index) => (isFirst(statement) ? [index] : []));
      return from.slice(0, -1).map((start, index) => statements.slice(start, from[index + 1]));
    };
    await database.ready();
    const worker = runWorker({
      agent: harness({ model: scriptedModel([]), sessions }).pipe(queue(lanes)),
      lanes,
      sessions,
      inbox: () => postgresInbox(database),
      live: liveEvents(database),
      approvals: postgresApprovalRequests(database),
      recoverEveryMs: 10,
      signals: [],
    });
    onTestFinished(() => worker.drain());
    // The first search opens the inbox.
    await rounds();
    const before = await rounds();
    const admin = schema.connect();
    for (const sql of idleRows((table) => admin.name(table))) await admin.query(sql, [idleSessions]);
    await admin.query(`analyze ${admin.name('session')}, ${admin.name('stream')}, ${admin.name('inbox_message')}`);
    const after = await rounds();
    const shapesOf = (found: typeof before) => new Set(found.map((round) => round.map(({ sql }) => sql).join('\n')));
    expect(shapesOf(after)).toEqual(shapesOf(before));
    // `take()` answers with one row.
    for (const round of after) expect(round.map(({ rows }) => rows)).toEqual([0, 0, 0, 1]);
    const plans: string[] = [];
    for (const { sql } of after[0] ?? []) {
      if (!sql.includes('$')) plans.push(JSON.stringify(await admin.query(`explain ${sql}`)));
    }
    expect(plans).toEqual([expect.stringContaining('session_unfinished'), expect.stringContaining('stream_open')]);
  });
});
