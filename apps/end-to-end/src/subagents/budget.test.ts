import { createBudget, guardrails, type Budget } from '@h/guardrails';
import { subagents, type Spawned, type Subagents } from '@h/subagents';
import { defineTool, toolDriver } from '@h/tools';
import { harness, reply, type TurnOperator } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import { expect, it } from 'vitest';
import { family, lastRead, says, spawn, wait } from './family.js';

const count = defineTool({
  name: 'count',
  description: 'Counts.',
  input: { type: 'object', properties: { n: { type: 'number' } } } as const,
  effect: 'read-only',
  run: () => 'Counted.',
});
const tasks = { mid: [says(spawn('m', 'deep')), says(wait('w')), 'Mid is done.'], deep: ['Deep is done.'] };

it.each<[string, string, (whole: Budget) => readonly TurnOperator[]]>([
  ['nothing', 'deep', () => []],
  ['nothing, further down', 'mid', () => []],
  ['the whole budget instead of its share', 'deep', (whole) => [guardrails({ budget: whole })]],
  ['its turn alone', 'deep', () => [guardrails({ maxSteps: 5 })]],
])('stops a sub-agent before its first step if it is charged to %s', async (_, wrong, operators) => {
  const whole = createBudget({ maxSteps: 100 });
  const { agent, models, parent } = family({
    parent: [says(spawn('s', 'mid')), says(wait('w')), 'Done.'],
    tasks,
    budget: whole,
    operators: [guardrails({ budget: whole })],
    build: ({ budget, task }) => ({
      operators: task === wrong ? operators(whole) : [guardrails({ budget: budget as Budget })],
    }),
  });
  expect(await reply(agent.turn({ session: 'boss', input: 'Go' }))).toMatchObject({ outcome: 'completed' });
  expect(models.get(wrong)?.requests).toEqual([]);
  expect(lastRead(wrong === 'mid' ? parent : models.get('mid'))).toContain(
    'Add guardrails({ budget: context.budget }) to its pipe',
  );
});

it('accepts a sub-agent that is charged to a part of its share', async () => {
  const whole = createBudget({ maxSteps: 100 });
  const { agent, models } = family({
    parent: [says(spawn('s', 'mid')), says(wait('w')), 'Done.'],
    tasks,
    budget: whole,
    operators: [guardrails({ budget: whole })],
    build: ({ budget }) => ({ operators: [guardrails({ budget: (budget as Budget).share({ maxSteps: 9 }) })] }),
  });
  expect(await reply(agent.turn({ session: 'boss', input: 'Go' }))).toMatchObject({ outcome: 'completed' });
  expect(models.get('deep')?.requests).toHaveLength(1);
  expect(whole.used().steps).toBe(7);
});

it('gives create() a share of the budget, charges each step once, and stops at zero', async () => {
  const whole = createBudget({ maxSteps: 5 });
  const models: ReturnType<typeof scriptedModel>[] = [];
  const team: Subagents = subagents({
    budget: whole,
    agents: {
      worker: {
        description: 'Works.',
        policy: { budget: { maxSteps: 4 } },
        create: ({ budget, guard }) => {
          const model = scriptedModel(
            Array.from({ length: 9 }, (_, n) =>
              says({ type: 'tool-call', toolCallId: `c${n}`, toolName: 'count', input: { n } }),
            ),
          );
          models.push(model);
          return harness({ model, tools: toolDriver([count]) }).pipe(
            team,
            guardrails({ budget, wrapUp: false }),
            guard,
          );
        },
      },
    },
  });
  const ends = [];
  for (const task of ['a', 'b', 'c']) {
    ends.push(await ((await team.spawn({ parent: 'code', agent: 'worker', task })) as Spawned).ended);
  }
  expect(ends).toMatchObject([
    { outcome: 'max-steps', steps: 4 },
    { outcome: 'max-steps', steps: 1 },
    { outcome: 'max-steps', steps: 0 },
  ]);
  expect([models.map(({ requests }) => requests.length), whole.used().steps]).toEqual([[4, 1, 0], 5]);
  expect(whole.toJSON()).toMatchObject({ tabs: {} });
});
