import { compaction } from '@h/compaction';
import { createCredentialPool, failover } from '@h/failover';
import { createBudget, guardrails } from '@h/guardrails';
import { hooks, type Hook } from '@h/hooks';
import { loopDetect } from '@h/loop-detect';
import { observe } from '@h/observe';
import { prompt } from '@h/prompt';
import { createLanes, queue } from '@h/queue';
import { reasoning } from '@h/reasoning';
import { security } from '@h/security';
import { defineTool, toolDriver, tools } from '@h/tools';
import {
  harness,
  memorySessions,
  repairHistory,
  type ModelDriver,
  type PipelineOperator,
  type TurnEvent,
} from '@h/turn';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

/** Returns numbers from 0 to 1 that depend on the seed only. */
const randomOf = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const usage = { input: 900, cacheRead: 0, cacheWrite: 0, output: 40, reasoning: 5 };

interface Plan {
  readonly seed: number;
  readonly order: readonly number[];
  readonly cancelAt: number;
  readonly cutOffAt: number;
}

/** Runs three turns of two sessions with injected faults, and returns their events and what was invalid in
 * the requests and the stored transcripts. */
const run = async ({ seed, order, cancelAt, cutOffAt }: Plan) => {
  vi.setSystemTime(0);
  const random = randomOf(seed);
  const repairs: unknown[] = [];
  let ids = 0;
  let calls = 0;
  const model: ModelDriver = async function* ({ messages }, { signal }) {
    repairs.push(...repairHistory([...messages]).repairs);
    const [fate, wait, kind] = [random(), random(), random()];
    if (wait < 0.5) await later(1 + Math.floor(wait * 20));
    if (signal.aborted) return;
    if (fate < 0.06) throw new TypeError('socket hang up');
    const status = fate < 0.12 ? 529 : 429;
    if (fate < 0.16) yield { type: 'error', error: { name: 'APIError', message: `Status ${status}`, status } };
    else if (fate < 0.2) yield { type: 'delta', delta: { type: 'text', text: 'Half an answ' } };
    else {
      yield { type: 'delta', delta: { type: 'text', text: 'Well. ' } };
      const toolCalls = Array.from({ length: kind < 0.6 ? 1 + Math.floor(kind * 5) : 0 }, () => ({
        type: 'tool-call' as const,
        toolCallId: `call-${(calls += 1)}`,
        toolName: random() < 0.05 ? 'unknown' : random() < 0.5 ? 'read' : 'write',
        input: random() < 0.05 ? { path: 5 } : { path: `/f${Math.floor(random() * 3)}` },
      }));
      yield {
        type: 'response',
        response: {
          content: [{ type: 'text', text: 'Well. '.repeat(1 + Math.floor(random() * 40)) }, ...toolCalls],
          finishReason: toolCalls.length > 0 ? 'tool-calls' : random() < 0.1 ? 'length' : 'stop',
          usage,
        },
      };
    }
  };
  const runTool = async ({ path }: { readonly path: string }): Promise<string> => {
    const [fate, wait] = [random(), random()];
    if (wait < 0.5) await later(1 + Math.floor(wait * 40));
    if (fate < 0.1) throw new Error('EIO');
    if (fate < 0.15) await new Promise(() => undefined);
    return `${path}\n`.repeat(1 + Math.floor(fate * 2_000));
  };
  const input = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } as const;
  const toolNamed = (name: 'read' | 'write') =>
    defineTool({
      name,
      description: name,
      input,
      effect: name === 'read' ? 'read-only' : 'local-write',
      resources: (value) => [`file:${(value as { path: string }).path}`],
      timeoutMs: 500,
      run: (value) => runTool(value as { path: string }),
    });
  const driver = toolDriver([toolNamed('read'), toolNamed('write')]);
  const pool = createCredentialPool({ profiles: [], now: () => Date.now(), random });
  const budget = createBudget({ maxSteps: 40 });
  const lanes = createLanes({ concurrency: 2 });
  const moody: Hook = {
    name: 'moody',
    beforeTool: () => (random() < 0.1 ? { decision: 'deny', reason: 'Not now.' } : undefined),
    afterTool: async () => {
      await later(1);
      if (random() < 0.1) throw new Error('The linter failed.');
      return undefined;
    },
    beforeEnd: () => (random() < 0.1 ? { proceed: 'Check again.' } : undefined),
  };
  const operators: readonly PipelineOperator[] = [
    queue(lanes),
    hooks([moody]),
    guardrails({ maxSteps: 12, budget, session: { maxTokens: 60_000 } }),
    failover({ pool, models: ['alpha/one', 'beta/two'], random }),
    reasoning({ effort: 'low' }),
    prompt({
      frozen: [{ id: 'who', text: 'You are terse.' }],
      volatile: [{ id: 'time', text: ({ at }) => `At ${at}.` }],
    }),
    compaction({
      window: 6_000,
      summarize: async () => (random() < 0.3 ? Promise.reject(new Error('No.')) : 'Summary.'),
    }),
    loopDetect(),
    tools({ driver, contextWindow: 6_000 }),
    security({ createId: () => 'boundary' }),
    observe({ harnessId: 'test' }),
  ];
  const sessions = memorySessions();
  const agent = harness({ model, tools: driver, sessions, newId: () => `id-${(ids += 1)}` }).pipe(
    ...order.map((index) => operators[index] as PipelineOperator),
  );
  const events: TurnEvent[] = [];
  const endings = ['a', 'b', 'a'].map(
    (session, index) =>
      new Promise<void>((resolve, reject) => {
        const stop = new AbortController();
        if (index === 1) setTimeout(() => stop.abort(), cancelAt);
        agent
          .turn({ session, input: `Task ${index}.`, id: `turn-${index}`, signal: stop.signal })
          .subscribe({ next: (event) => void events.push(event), complete: resolve, error: reject });
      }),
  );
  setTimeout(() => budget.cutOff('Enough.'), cutOffAt);
  const ended = (): number => events.filter(({ type }) => type === 'turn.end').length;
  for (let waited = 0; waited < 4_000 && ended() < 3; waited += 1) await vi.advanceTimersByTimeAsync(500);
  expect(ended()).toBe(3);
  await Promise.all(endings);
  await lanes.shutdown();
  await vi.advanceTimersByTimeAsync(Math.max(cancelAt, cutOffAt, 500));
  for (const session of ['a', 'b']) repairs.push(...repairHistory(sessions.messages(session)).repairs);
  return { events, repairs, timers: vi.getTimerCount() };
};

const plans = fc.record({
  seed: fc.nat(),
  order: fc.shuffledSubarray([...Array(11).keys()], { minLength: 11 }),
  cancelAt: fc.nat(3_000),
  cutOffAt: fc.nat(60_000),
});

it('sends and stores valid transcripts, with one answer per call, in any order of the operators', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const { events, repairs, timers } = await run(plan);
      expect(repairs).toEqual([]);
      for (const index of [0, 1, 2]) {
        const own = events.filter(({ turn }) => turn === `turn-${index}`);
        expect(own.filter(({ type }) => type === 'turn.end')).toHaveLength(1);
        expect(own.at(-1)?.type).toBe('turn.end');
        const called = own.flatMap((event) => (event.type === 'tool.call' ? [event.call.id] : []));
        const answered = own.flatMap((event) => (event.type === 'tool.result' ? [event.call.id] : []));
        expect(answered.toSorted()).toEqual(called.toSorted());
        expect(new Set(answered).size).toBe(answered.length);
      }
      expect(timers).toBe(0);
    }),
    { numRuns: 30 },
  );
}, 120_000);

it('makes the same journal from the same seed', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const [first, second] = [await run(plan), await run(plan)];
      expect(second.events).toEqual(first.events);
    }),
    { numRuns: 15 },
  );
}, 120_000);
