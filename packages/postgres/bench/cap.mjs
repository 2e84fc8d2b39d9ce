/**
 * Ways to limit turns over several processes: the lanes of this package, a count under an advisory lock, and leased rows of
 * slots. Needs a build.
 */
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { connectPostgres } from '../dist/index.js';
import { postgresLanes } from '../dist/queue/index.js';
import { startServer } from '../test/embedded-server.js';

const concurrency = 8;
const processes = 4;
const tasks = Number(process.env.BENCH_TASKS ?? 1000);
/** How long a task works, and how long one that found no slot waits before it tries again. */
const workMs = 2;
const pollMs = 5;
/** Tasks of a process that try at a time; a pool has as many connections again for those that end. */
const contenders = 10;

/** @typedef {(work: () => Promise<void>) => Promise<void>} RunInSlot */

/** The lanes: waiting requests are ordered, and a free slot is handed to the next one. */
const withLanes = (url) => {
  const databases = Array.from({ length: processes }, (_, index) =>
    connectPostgres({ connectionString: url, label: `cap-${index}` }),
  );
  const lanes = databases.map((database) => postgresLanes(database, { concurrency }));
  return {
    run: (process, work) => lanes[process].run(randomUUID(), work),
    end: async () => {
      for (const own of lanes) await own.shutdown();
      for (const database of databases) await database.close();
    },
  };
};

/** Tries until a slot is found: neither of the two can tell a waiting task that one is free. */
const withPolling = async (url, tables, tryTake, release) => {
  const pools = Array.from({ length: processes }, () => new pg.Pool({ connectionString: url, max: 2 * contenders }));
  // The server ends connections that are still closing when it stops.
  for (const pool of pools) pool.on('error', () => undefined);
  await pools[0].query(tables);
  return {
    run: async (process, work) => {
      let slot;
      while ((slot = await tryTake(pools[process])) === undefined) await wait(pollMs);
      await work();
      await release(pools[process], slot);
    },
    end: async () => {
      for (const pool of pools) await pool.end();
    },
  };
};

const withAdvisoryLock = (url) =>
  withPolling(
    url,
    'create table running (id uuid primary key, lease_until timestamptz not null)',
    async (pool) => {
      const client = await pool.connect();
      try {
        await client.query('begin');
        await client.query('select pg_advisory_xact_lock(1)');
        const { rows } = await client.query(
          `insert into running select gen_random_uuid(), now() + interval '15 s'
           where (select count(*) from running where lease_until > clock_timestamp()) < ${concurrency} returning id`,
        );
        await client.query('commit');
        return rows[0]?.id;
      } finally {
        client.release();
      }
    },
    (pool, id) => pool.query('delete from running where id = $1', [id]),
  );

const withSlotRows = (url) =>
  withPolling(
    url,
    `create table slot (id integer primary key, lease_until timestamptz not null);
     insert into slot select id, '-infinity' from generate_series(1, ${concurrency}) id`,
    async (pool) => {
      const { rows } = await pool.query(
        `update slot set lease_until = clock_timestamp() + interval '15 s' where id = (
           select id from slot where lease_until < clock_timestamp() limit 1 for update skip locked) returning id`,
      );
      return rows[0]?.id;
    },
    (pool, id) => pool.query(`update slot set lease_until = '-infinity' where id = $1`, [id]),
  );

const percentile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? 0;

const measure = async (name, { run, end }) => {
  let running = 0;
  let most = 0;
  const waits = [];
  const runTask = async (process) => {
    const at = performance.now();
    await run(process, async () => {
      waits.push(performance.now() - at);
      running += 1;
      most = Math.max(most, running);
      await wait(workMs);
      running -= 1;
    });
  };
  let left = tasks;
  const contend = async (process) => {
    while (left > 0) {
      left -= 1;
      await runTask(process);
    }
  };
  const at = performance.now();
  await Promise.all(Array.from({ length: processes * contenders }, (_, index) => contend(index % processes)));
  const perSecond = tasks / ((performance.now() - at) / 1000);
  await end();
  const cells = [perSecond.toFixed(0), `${percentile(waits, 0.5).toFixed(0)} / ${percentile(waits, 0.99).toFixed(0)}`];
  console.log(`| ${[name, ...cells, most].join(' | ')} |`);
};

const server = await startServer({ isDurable: true });
try {
  console.log(`${tasks} tasks of ${workMs} ms, ${concurrency} slots, ${processes} pools\n`);
  console.log('| | tasks/s | wait p50 / p99 ms | at once at most |\n|---|---|---|---|');
  await measure('`postgresLanes()`', withLanes(server.url));
  await measure('a count under `pg_advisory_xact_lock`', await withAdvisoryLock(server.url));
  await measure('leased rows, `for update skip locked`', await withSlotRows(server.url));
} finally {
  await server.stop();
}
