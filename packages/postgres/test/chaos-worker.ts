import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { hooks } from '@h/hooks';
import { queue } from '@h/queue';
import { isChildSession, subagents, type Subagents } from '@h/subagents';
import { defineTool, fileArtifacts, toolDriver, tools, type ArtifactStore } from '@h/tools';
import { harness, type ModelDriver, type UserMessage } from '@h/turn';
import { call, response } from '@h/turn/testing';
import { postgresApprovalRequests } from '../src/approvals.js';
import { postgresBudget } from '../src/budget.js';
import { postgresChildren } from '../src/children.js';
import { connectPostgres, liveEvents, postgresSessions } from '../src/index.js';
import { postgresInbox, postgresLanes } from '../src/queue/index.js';
import { runWorker } from '../src/worker.js';

// A worker of the chaos test: node chaos-worker.cjs URL SCHEMA FOLDER CONCURRENCY LEASE_MS [full]
const [url = '', schema = '', folder = '', concurrency = '4', lease = '1000', disk = ''] = process.argv.slice(2);
const leaseMs = Number(lease);

const log = (file: string, line: string): void => appendFileSync(join(folder, file), `${line}\n`);

const pause = (signal: AbortSignal): Promise<void> =>
  delay(2 + Math.random() * 30, undefined, { signal }).catch(() => undefined);

const textOf = ({ content }: UserMessage): string => {
  const [first] = typeof content === 'string' ? [content] : content;
  return typeof first === 'string' ? first : first?.type === 'text' ? first.text : '';
};

const usage = { input: 90, cacheRead: 0, cacheWrite: 0, output: 10, reasoning: 0 };

/** The call for an input such as `s3/1`, by the number of its turn. */
const callFor = (text: string, id: string) => {
  const number = Number(text.split('/')[1]) % 5;
  if (number === 2) return { ...call(id, 'spawn'), input: { agent: 'helper', task: `Write ${text}` } };
  return { ...call(id, number === 1 ? 'guarded' : 'write'), input: { text } };
};

const isInput = (text: string): boolean => /^s\d+\/\d+$/u.test(text);

/**
 * Calls one tool for each input, again if it did not run because a message arrived before it, then answers. Messages that
 * steer the turn and results of sub-agents need no call.
 */
const model: ModelDriver = async function* (request, { signal }) {
  log('calls.log', 'call');
  await pause(signal);
  const messages = [...request.messages];
  const inputAt = messages.findLastIndex((message) => message.role === 'user' && isInput(textOf(message)));
  const input = messages[inputAt];
  const calls = messages.slice(inputAt).filter(({ role }) => role === 'assistant').length;
  const latest = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  const isSkipped = latest.some((message) => message.role === 'tool' && JSON.stringify(message).includes('Not run:'));
  const isNew = input?.role === 'user' && (calls === 0 || isSkipped);
  const answer = isNew ? response(callFor(textOf(input), `call-${messages.length}`)) : response('Done.');
  yield { type: 'response', response: { ...answer, usage } };
};

/** Calls a tool for its task, then answers. */
const helperModel: ModelDriver = async function* (request, { signal }) {
  log('calls.log', 'call');
  await pause(signal);
  const [first, ...rest] = request.messages;
  const task = first?.role === 'user' ? (/s\d+\/\d+/u.exec(textOf(first))?.[0] ?? '') : '';
  const answer =
    rest.length > 0 ? response('Done.') : response({ ...call('h', 'write'), input: { text: `${task} helper` } });
  yield { type: 'response', response: { ...answer, usage } };
};

/** Appends a line to a file, so that a second run would show. Every fourth result is too long for the context. */
const writer = (name: string) =>
  defineTool({
    name,
    description: 'Appends a line.',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    effect: 'local-write',
    resources: () => [],
    run: async (input, { signal }) => {
      const { text } = input as { readonly text: string };
      await pause(signal);
      log('writes.log', text);
      await pause(signal);
      return text.endsWith('/3') ? 'x'.repeat(20_000) : 'Written.';
    },
  });

/** Stores long results in files, and logs how each write ended. On a full disk it ends with the error `ENOSPC`. */
const artifactsIn = (directory: string): ArtifactStore => {
  const files = fileArtifacts({ directory });
  return {
    put: async (artifact) => {
      try {
        if (disk === 'full') writeFileSync('/dev/full', artifact.content);
      } catch (error) {
        log('artifacts.log', (error as NodeJS.ErrnoException).code ?? 'unknown');
        throw error;
      }
      log('artifacts.log', 'stored');
      return (await files).put(artifact);
    },
    read: async (session, id, range) => (await files).read(session, id, range),
    list: async (session) => (await files).list(session),
    delete: async (session, id) => (await files).delete(session, id),
    deleteSession: async (session) => (await files).deleteSession(session),
  };
};

const database = connectPostgres({
  connectionString: url,
  schema,
  label: `worker ${process.pid}`,
  leaseMs,
  maxConnections: 5,
  onProblem: (error) => process.stderr.write(`${error.code}: ${error.message}\n`),
});
const sessions = postgresSessions(database, {
  onUnfinished: async ({ session }) => {
    await team.recover({ sessions: (root) => root === session, unfinished: () => sessions.unfinished() });
  },
});
const lanes = postgresLanes(database, { concurrency: Number(concurrency), graceMs: 100 });
const budget = postgresBudget(database, { name: 'chaos', limits: { modelCalls: 1_000_000 }, perCall: { tokens: 100 } });
const team: Subagents = subagents({
  agents: {
    helper: {
      description: 'Writes a line.',
      create: ({ guard }) =>
        harness({ model: helperModel, tools: toolDriver([writer('write')]), sessions, closeGraceMs: 500 }).pipe(
          team,
          budget.operator(),
          guard,
        ),
    },
  },
  store: postgresChildren(database),
});
const driver = toolDriver([...team.tools.map((tool) => defineTool(tool)), writer('write'), writer('guarded')]);
const agent = harness({ model, tools: driver, sessions, closeGraceMs: 500 }).pipe(
  queue(lanes),
  hooks([
    {
      name: 'asks',
      beforeTool: ({ call: { name } }) => (name === 'guarded' ? { decision: 'ask', reason: 'May it?' } : undefined),
    },
  ]),
  team,
  budget.operator(),
  tools({
    driver,
    contextWindow: 100_000,
    maxChars: 2_000,
    artifacts: artifactsIn(join(folder, `artifacts-${process.pid}`)),
    redact: false,
  }),
);
const worker = runWorker({
  agent,
  lanes,
  sessions,
  inbox: () => postgresInbox(database),
  inboxOptions: { mode: 'followup', maxPending: 1000 },
  recoveryOf: ({ session }) => (isChildSession(session) ? 'finish' : 'resume'),
  approvals: postgresApprovalRequests(database),
  live: liveEvents(database),
  recoverEveryMs: leaseMs / 2,
  drainMs: 2_000,
  onEvent: ({ type, turn, ...event }) => {
    if (type === 'turn.end') log('ends.log', `${turn} ${JSON.stringify(event)}`);
  },
  onProblem: (error) => process.stderr.write(`${String(error)}\n`),
});
process.send?.('ready');
void worker.ended.then(() => database.close());
