// A worker whose model does not answer: node slow-worker.mjs URL SCHEMA LEASE_MS
import { queue } from '@h/queue';
import { harness } from '@h/turn';
import { connectPostgres, postgresSessions } from '../dist/index.js';
import { postgresInbox, postgresLanes } from '../dist/queue/index.js';
import { runWorker } from '../dist/worker.js';

const [url, schema, leaseMs] = process.argv.slice(2);
const database = connectPostgres({ connectionString: url, schema, leaseMs: Number(leaseMs) });
const lanes = postgresLanes(database, { concurrency: 4 });
const sessions = postgresSessions(database);
const model = async function* model() {
  process.send?.('model.request');
  await new Promise(() => undefined);
  yield { type: 'never' };
};
runWorker({
  agent: harness({ model, sessions }).pipe(queue(lanes)),
  lanes,
  sessions,
  inbox: () => postgresInbox(database),
  recoverEveryMs: Number(leaseMs) / 3,
});
process.send?.('ready');
