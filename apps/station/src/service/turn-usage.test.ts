import type { CostOf } from '@h/prices';
import { event, usage } from '@h/turn/testing';
import { expect, it } from 'vitest';
import { openBench } from '../../test/bench.js';
import { call } from '../../test/model-server.js';
import { turnTraceOf } from './turn-trace.js';
import { TurnUsage } from './turn-usage.js';

const costOf: CostOf = ({ input, output }, model) => (model === 'acme/large' ? (input + 5 * output) / 1000 : undefined);

const response = (name?: string) =>
  event('model.response', {
    step: 1,
    attempt: 1,
    content: [],
    finishReason: 'stop',
    usage: usage(100, 20),
    ...(name !== undefined && { model: name }),
  });
const error = (rest: object) =>
  event('model.error', { step: 1, attempt: 1, error: { name: 'Error', message: 'Broken.' }, ...rest });
const request = {
  ...event('turn.stop', { outcome: 'completed' }),
  type: 'model.request',
  step: 1,
  attempt: 1,
  model: 'acme/large',
} as never;

it.each([
  [
    'an answer of a provider with another name',
    [response('large-2026')],
    { inputTokens: 100, outputTokens: 20, cost: 0.2 },
  ],
  [
    'a failed call that was charged',
    [error({ usage: usage(100, 20) })],
    { inputTokens: 100, outputTokens: 20, cost: 0.2 },
  ],
  [
    'an interrupted call, by estimate',
    [error({ annotations: { guardrails: { inputTokens: 100, outputTokens: 20, steps: 1, cost: 0.3 } } })],
    { inputTokens: 100, outputTokens: 20, cost: 0.3 },
  ],
  ['a call that was not charged', [error({ annotations: { guardrails: { steps: 1 } } })], { inputTokens: 0, cost: 0 }],
])('counts %s, in the records and in the trace', (_, events, expected) => {
  const used = new TurnUsage(costOf);
  for (const one of [request, ...events]) used.add(one);
  expect(used.total).toMatchObject(expected);
  const trace = turnTraceOf('t', JSON.parse(JSON.stringify([request, ...events])) as never, costOf);
  expect(trace.usage).toEqual(used.total);
});

it('counts what sub-agents have used', async () => {
  const bench = await openBench({
    agent: { subagents: ['scout'] },
    others: { scout: { tools: ['read'], description: 'Looks.' } },
    answers: ({ messages, tools = [] }) => {
      if (!tools.some((tool) => tool.function.name === 'spawn')) return 'The report of the scout.';
      const last = messages.at(-1);
      if (last?.role === 'user') return call('spawn', { agent: 'scout', task: 'Look.' }, 'one');
      return JSON.stringify(messages).includes('The report') ? 'Done.' : call('wait', {}, `wait-${messages.length}`);
    },
  });
  const { events, outcome } = await bench.run('Do it.');
  const used = new TurnUsage(() => 1);
  for (const one of events) used.add(one);
  const usageOf = (type: string) => (events.find((one) => one.type === type) as { usage?: { input: number } }).usage;
  const [own, ofChild] = [usageOf('turn.end')?.input ?? 0, usageOf('subagent.ended')?.input ?? 0];
  expect([outcome, used.total.inputTokens, ofChild > 0]).toEqual(['completed', own + ofChild, true]);
});
