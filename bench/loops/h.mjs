/** The loop of `@h/turn` with some or all of the ten operators at their defaults. Reads the builds of the packages. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Observable } from 'rxjs';
import { compaction } from '../../packages/compaction/dist/index.js';
import { failover } from '../../packages/failover/dist/index.js';
import { guardrails } from '../../packages/guardrails/dist/index.js';
import { hooks } from '../../packages/hooks/dist/index.js';
import { loopDetect } from '../../packages/loop-detect/dist/index.js';
import { observe } from '../../packages/observe/dist/index.js';
import { prompt } from '../../packages/prompt/dist/index.js';
import { createLanes, queue } from '../../packages/queue/dist/index.js';
import { security } from '../../packages/security/dist/index.js';
import { fileSessions } from '../../packages/session/dist/index.js';
import { tools } from '../../packages/tools/dist/index.js';
import { harness, memorySessions } from '../../packages/turn/dist/index.js';
import { callIdOf, deltaAt, inputOf, resultOf, stepOf, tool, usage } from '../workload.mjs';

/**
 * The operators in the order of a pipeline, each with the least that makes it work: hooks need a hook, a prompt a section.
 * Limits that would end a turn of 1,000 steps, or make 1,000 turns wait for each other, are lifted.
 */
const operators = {
  queue: () => queue(createLanes({ concurrency: 100_000 })),
  hooks: () => hooks([{ name: 'allow', beforeTool: () => undefined }]),
  guardrails: () => guardrails({ maxSteps: 1_000_000 }),
  failover: () => failover(),
  prompt: () => prompt({ frozen: [{ id: 'identity', text: 'You are a careful engineer.' }] }),
  compaction: () => compaction({ window: 10_000_000 }),
  'loop-detect': () => loopDetect(),
  tools: () => tools(),
  security: () => security(),
  observe: () => observe(),
};

const modelOf =
  (steps, deltas) =>
  (_request, { step }) =>
    new Observable((subscriber) => {
      let text = '';
      for (let index = 0; index < deltas; index += 1) {
        const delta = deltaAt(step, index);
        text += delta;
        subscriber.next({ type: 'delta', delta: { type: 'text', text: delta } });
      }
      const isLast = step >= steps;
      const call = { type: 'tool-call', toolCallId: callIdOf(step), toolName: tool.name, input: inputOf(step) };
      const content = text === '' && isLast ? [{ type: 'text', text: 'Done.' }] : [];
      if (text !== '') content.push({ type: 'text', text });
      if (!isLast) content.push(call);
      subscriber.next({
        type: 'response',
        response: {
          content,
          finishReason: isLast ? 'stop' : 'tool-calls',
          usage: { input: usage.input, cacheRead: 0, cacheWrite: 0, output: usage.output, reasoning: 0 },
        },
      });
      subscriber.complete();
    });

const definitions = [{ name: tool.name, description: tool.description, inputSchema: tool.schema, effect: 'read-only' }];
const toolDriver = {
  definitions: () => definitions,
  run: (calls) =>
    new Observable((subscriber) => {
      for (const { id, input } of calls) {
        const output = { type: 'text', value: resultOf(stepOf(input)) };
        subscriber.next({ type: 'result', id, outcome: { status: 'ok', output } });
      }
      subscriber.complete();
    }),
};

let turns = 0;

/** A loop with these operators, and with sessions in memory or, if `files` is set, in files without `fsync`. */
export const create = ({ names = [], files = false } = {}) => {
  const directory = files ? mkdtempSync(join(tmpdir(), 'h-bench-')) : undefined;
  const sessions = directory === undefined ? memorySessions() : fileSessions({ directory, fsync: 'never' });
  const agentOf = (model) =>
    harness({ model, tools: toolDriver, sessions, maxModelCalls: Infinity }).pipe(
      ...names.map((name) => operators[name]()),
    );
  const agents = new Map();
  const agentFor = (steps, deltas) => {
    const key = `${steps}:${deltas}`;
    const agent = agents.get(key) ?? agentOf(modelOf(steps, deltas));
    agents.set(key, agent);
    return agent;
  };
  return {
    run: (steps, deltas) =>
      new Promise((resolve, reject) => {
        const session = `bench-${(turns += 1)}`;
        let received = 0;
        let end;
        agentFor(steps, deltas)
          .turn({ session, input: 'Go.' })
          .subscribe({
            next: (event) => {
              if (event.type === 'model.delta') received += event.delta.text.length;
              else if (event.type === 'turn.end') end = event;
            },
            error: reject,
            complete: () => {
              if (end?.outcome === 'completed') {
                const forgotten = directory === undefined ? sessions.delete(session) : undefined;
                Promise.resolve(forgotten).then(() => resolve(received), reject);
              } else {
                reject(new Error(`The turn of ${steps} steps ended as ${end?.outcome}: ${end?.reason}`));
              }
            },
          });
      }),
    park: () => {
      const silent = agents.get('silent') ?? agentOf(() => new Observable(() => undefined));
      agents.set('silent', silent);
      return silent.turn({ session: `parked-${(turns += 1)}`, input: 'Go.' }).subscribe();
    },
    close: () => {
      if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
};
