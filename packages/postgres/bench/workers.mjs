/** Turns through PostgreSQL beside in-process lanes and bare pg-boss. Needs a build. */
import { fork } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { createLanes, queue } from '@h/queue';
import { harness, memorySessions } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import { connectPostgres, postgresSessions } from '../dist/index.js';
import { postgresInbox, postgresLanes } from '../dist/queue/index.js';
import { runWorker } from '../dist/worker.js';
import { startServer } from '../test/embedded-server.js';

const concurrency = 8;
const turns = Number(process.env.BENCH_TURNS ?? 400);
const idleTurns = 40;
const leaseMs = 5_000;

const modelOf = () => scriptedModel(Array.from({ length: 100_000 }, () => 'Done.'));
const sessionOf = (index) => `session-${index % 50}`;

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;

/** Counts the statements of this process and their bytes. */
const traffic = { statements: 0, bytes: 0 };
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function count(statement, ...rest) {
  const { text = statement, values = [] } = typeof statement === 'object' && statement !== null ? statement : {};
  traffic.statements += 1;
  traffic.bytes += String(text).length + JSON.stringify(values ?? []).length;
  return query.call(this, statement, ...rest);
};

/** Submits work and measures the time until each begins, one by one and all at once. */
const measure = async (name, submit) => {
  const begun = new Map();
  const ended = new Map();
  const events = {
    begins: (id) => begun.get(id)?.(performance.now()),
    ends: (id) => ended.get(id)?.(),
  };
  const run = async (id, index) => {
    const at = performance.now();
    const start = new Promise((resolve) => begun.set(id, resolve));
    const end = new Promise((resolve) => ended.set(id, resolve));
    await submit(id, index);
    const latency = (await start) - at;
    await end;
    return latency;
  };
  return {
    events,
    async measured() {
      const idle = [];
      for (let index = 0; index < idleTurns; index += 1) idle.push(await run(`idle-${index}`, index));
      const before = { ...traffic };
      const at = performance.now();
      const load = await Promise.all(Array.from({ length: turns }, (_, index) => run(`load-${index}`, index)));
      const seconds = (performance.now() - at) / 1_000;
      return {
        name,
        perSecond: turns / seconds,
        idle: [percentile(idle, 0.5), percentile(idle, 0.99)],
        load: [percentile(load, 0.5), percentile(load, 0.99)],
        statements: (traffic.statements - before.statements) / turns,
        bytes: (traffic.bytes - before.bytes) / turns,
      };
    },
  };
};

const inProcess = async () => {
  const lanes = createLanes({ concurrency });
  const agent = harness({ model: modelOf(), sessions: memorySessions() }).pipe(queue(lanes));
  const { events, measured } = await measure('in-process lanes', (id, index) => {
    agent.turn({ session: sessionOf(index), input: id }).subscribe((event) => {
      if (event.type === 'session.loaded') events.begins(id);
      if (event.type === 'turn.end') events.ends(id);
    });
  });
  const figures = await measured();
  await lanes.shutdown();
  return figures;
};

const withPostgres = async (url) => {
  const database = connectPostgres({ connectionString: url, leaseMs });
  const sessions = postgresSessions(database);
  const lanes = postgresLanes(database, { concurrency });
  const agent = harness({ model: modelOf(), sessions }).pipe(queue(lanes));
  const inbox = postgresInbox(database);
  const ids = new Map();
  const { events, measured } = await measure('@h/postgres, one worker', (id, index) =>
    inbox.submit(sessionOf(index), id, { id }),
  );
  const worker = runWorker({
    agent,
    lanes,
    sessions,
    inbox: () => postgresInbox(database),
    inboxOptions: { mode: 'followup', maxPending: 1_000 },
    maxTaken: 64,
    signals: [],
    onEvent: (event) => {
      if (event.type === 'turn.start') ids.set(event.turn, JSON.stringify(event.input[0].content).slice(1, -1));
      if (event.type === 'session.loaded') events.begins(ids.get(event.turn));
      if (event.type === 'turn.end') events.ends(ids.get(event.turn));
    },
  });
  const size = async () => {
    const [row] = await database.query(
      `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
       from pg_class c where c.relnamespace = 'h'::regnamespace and c.relkind = 'r'`,
    );
    return Number(row.bytes);
  };
  await database.ready();
  const before = await size();
  const figures = await measured();
  const grown = (await size()) - before;
  await worker.drain();
  await database.close();
  return { ...figures, sizePer1000: (grown / (turns + idleTurns)) * 1_000 };
};

const withPgBoss = async (url) => {
  const boss = new PgBoss({ connectionString: url });
  boss.on('error', () => undefined);
  await boss.start();
  await boss.createQueue('turns');
  const { events, measured } = await measure(`bare pg-boss, ${concurrency} × work()`, (id) =>
    boss.send('turns', { id }),
  );
  for (let worker = 0; worker < concurrency; worker += 1) {
    await boss.work('turns', { batchSize: 1, pollingIntervalSeconds: 0.5 }, async ([job]) => {
      events.begins(job.data.id);
      events.ends(job.data.id);
    });
  }
  const figures = await measured();
  await boss.stop({ graceful: false });
  return figures;
};

/** The time from SIGKILL of a worker until another one continues its turn. */
const recovery = async (url) => {
  const times = [];
  for (let round = 0; round < 3; round += 1) {
    const schema = `recovery_${round}`;
    const start = () =>
      fork(fileURLToPath(new URL('slow-worker.mjs', import.meta.url)), [url, schema, String(leaseMs)]);
    const heard = (child, type) =>
      new Promise((resolve) => child.on('message', (message) => message === type && resolve(performance.now())));
    const database = connectPostgres({ connectionString: url, schema, leaseMs });
    const first = start();
    const working = heard(first, 'model.request');
    await postgresInbox(database).submit('alice', 'Work.', { id: 'm1' });
    await working;
    const second = start();
    await heard(second, 'ready');
    const resumed = heard(second, 'model.request');
    first.kill('SIGKILL');
    const at = performance.now();
    times.push((await resumed) - at);
    second.kill('SIGKILL');
    await database.close();
  }
  return times;
};

const ms = (value) => (value < 10 ? value.toFixed(1) : value.toFixed(0));
const server = await startServer({ isDurable: true });
try {
  const rows = [await inProcess(), await withPostgres(server.url), await withPgBoss(server.url)];
  console.log(`${turns} turns in 50 sessions, ${concurrency} at a time, Node ${process.versions.node}\n`);
  console.log('| | turns/s | idle p50 / p99 ms | under load p50 / p99 ms | statements | bytes sent |');
  console.log('|---|---|---|---|---|---|');
  for (const { name, perSecond, idle, load, statements, bytes } of rows) {
    const cells = [perSecond.toFixed(0), idle.map(ms).join(' / '), load.map(ms).join(' / ')];
    console.log(`| ${name} | ${[...cells, statements.toFixed(1), bytes.toFixed(0)].join(' | ')} |`);
  }
  console.log(`\nDatabase size per 1,000 turns: ${((rows[1].sizePer1000 ?? 0) / 1e6).toFixed(2)} MB`);
  const times = await recovery(server.url);
  console.log(
    `Recovery after SIGKILL, lease of ${leaseMs} ms: ${times.map((time) => `${(time / 1_000).toFixed(1)} s`).join(', ')}`,
  );
} finally {
  await server.stop();
}
