import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { queue } from '@h/queue';
import { harness, type ModelDriver, type UserMessage } from '@h/turn';
import { call, response, scriptedTools } from '@h/turn/testing';
import { postgresBudget } from '../src/budget.js';
import { connectPostgres, liveEvents, postgresSessions } from '../src/index.js';
import { postgresInbox, postgresLanes } from '../src/queue/index.js';
import { runWorker } from '../src/worker.js';

// A worker of the chaos test: node chaos-worker.cjs URL SCHEMA FOLDER CONCURRENCY LEASE_MS
const [url = '', schema = '', folder = '', concurrency = '4', lease = '1000'] = process.argv.slice(2);
const leaseMs = Number(lease);

const pause = (signal: AbortSignal): Promise<void> =>
  delay(2 + Math.random() * 30, undefined, { signal }).catch(() => undefined);

const textOf = ({ content }: UserMessage): string => {
  const [first] = typeof content === 'string' ? [content] : content;
  return typeof first === 'string' ? first : first?.type === 'text' ? first.text : '';
};

const usage = { input: 90, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0 };

/** Calls the tool once for each input, then answers. */
const model: ModelDriver = async function* (request, { signal }) {
  await pause(signal);
  const last = [...request.messages].at(-1);
  const answer =
    last?.role === 'user' ? response({ ...call('w', 'write'), input: { text: textOf(last) } }) : response('Done.');
  yield { type: 'response', response: { ...answer, usage } };
};

/** Appends a line to a file, so that a second run would show. */
const tools = scriptedTools({
  write: async (input, { signal }) => {
    await pause(signal);
    appendFileSync(join(folder, 'writes.log'), `${(input as { readonly text: string }).text}\n`);
    await pause(signal);
    return 'Written.';
  },
});

const database = connectPostgres({
  connectionString: url,
  schema,
  label: `worker ${process.pid}`,
  leaseMs,
  maxConnections: 5,
  onProblem: (error) => process.stderr.write(`${error.code}: ${error.message}\n`),
});
const sessions = postgresSessions(database);
const lanes = postgresLanes(database, { concurrency: Number(concurrency), graceMs: 100 });
const budget = postgresBudget(database, { name: 'chaos', limits: { modelCalls: 1_000_000 }, perCall: { tokens: 100 } });
const agent = harness({ model, tools, sessions, closeGraceMs: 500 }).pipe(queue(lanes), budget.operator());
const worker = runWorker({
  agent,
  lanes,
  sessions,
  inbox: () => postgresInbox(database),
  inboxOptions: { mode: 'followup', maxPending: 1000 },
  live: liveEvents(database),
  recoverEveryMs: leaseMs / 2,
  drainMs: 2_000,
  onEvent: ({ type, turn, ...event }) => {
    if (type === 'turn.end') appendFileSync(join(folder, 'ends.log'), `${turn} ${JSON.stringify(event)}\n`);
  },
  onProblem: (error) => process.stderr.write(`${String(error)}\n`),
});
process.send?.('ready');
void worker.ended.then(() => database.close());
