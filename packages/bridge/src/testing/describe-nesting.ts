import { createBudget, guardrails } from '@h/guardrails';
import { createLanes, queue } from '@h/queue';
import { intercept, stop, type PipelineOperator } from '@h/turn';
import { expect, it } from 'vitest';
import type { HostUnderTest, Wire } from './host-under-test.js';
import type { Answer, ModelRequestRecord } from './model-server.js';
import { calls, text, type Stage } from './stage.js';

const caller = 'alice';

/** Delegates twice at once; the agents that it delegates to read a file. */
const delegating = ({ body }: ModelRequestRecord): Answer => {
  if (body.includes('A subtask.')) return body.includes('text of') ? text('Found it.') : calls('read');
  return body.includes('Delegated.') ? text('Done.') : calls('delegate', 'delegate');
};

/** Stops every turn but that of the caller before its second step. */
const stoppingNested = (): PipelineOperator =>
  intercept('suite', () => {
    let isNested = false;
    return {
      observe: { 'turn.start': ({ session }) => void (isNested = session !== caller) },
      decide: {
        'model.request': ({ step }) => (isNested && step === 2 ? stop('loop-detected', 'Enough.') : undefined),
      },
    };
  });

/** Tests agents that run within tool calls, in the session of their caller. */
export const describeNesting = (under: HostUnderTest, wire: Wire, createStage: () => Stage): void => {
  if (under.nests !== true) return;

  const scene = (
    title: string,
    operators: readonly PipelineOperator[],
    expected: { readonly nested: string; readonly delegate?: (run: () => Promise<string>) => Promise<string> },
  ): void => {
    it(title, async () => {
      const stage = createStage();
      await stage.start(under, { operators, options: {}, wire });
      const { delegate = (run) => run() } = expected;
      stage.onDelegate = () => delegate(async () => `Delegated. ${(await stage.nest('A subtask.')).text}`);
      stage.server.begin(Array.from({ length: 6 }, () => delegating));
      try {
        expect(await stage.run('Delegate.')).toMatchObject({ text: 'Done.', stop: undefined });
      } finally {
        await stage.close();
      }
      expect(stage.ran.toSorted()).toEqual(['delegate a.txt', 'delegate a.txt', 'read a.txt', 'read a.txt']);
      expect(stage.spy.count('model.response', caller)).toBe(2);
      const ends = stage.spy.events.flatMap((event) =>
        event.type === 'turn.end' ? [[event.inSession, event.outcome]] : [],
      );
      expect(ends.filter(([session]) => session === caller)).toEqual([[caller, 'completed']]);
      const nested = ends.filter(([session]) => session !== caller);
      expect(nested.map(([, outcome]) => outcome)).toEqual([expected.nested, expected.nested]);
      expect(new Set(nested.map(([session]) => session)).size).toBe(2);
      for (const body of stage.bodies) expect(body).not.toMatch(/Delegate\..*A subtask\.|A subtask\..*Delegate\./s);
    });
  };

  scene('runs agents within tool calls as separate sessions', [], { nested: 'completed' });
  scene('ends only an agent within a tool call when an operator stops it', [stoppingNested()], {
    nested: 'loop-detected',
  });
  const lanes = createLanes({ concurrency: 1 });
  scene('runs agents within tool calls that lend the only slot of the lanes', [queue(lanes)], {
    nested: 'completed',
    delegate: (run) => lanes.yieldWhile(run),
  });

  it('counts agents within tool calls in the shared budget of their caller, which then ends', async () => {
    const stage = createStage();
    const budget = createBudget({ maxSteps: 3, maxTokens: 1_000_000 });
    await stage.start(under, { operators: [guardrails({ budget, wrapUp: false })], options: {}, wire });
    stage.onDelegate = async () => `Delegated. ${(await stage.nest('A subtask.')).text}`;
    stage.server.begin(Array.from({ length: 6 }, () => delegating));
    try {
      expect(await stage.run('Delegate.')).toMatchObject({ stop: { outcome: 'max-steps' } });
    } finally {
      await stage.close();
    }
    expect(stage.bodies).toHaveLength(3);
    expect(budget.used()).toMatchObject({ steps: 3 });
    expect(stage.spy.outcomes).toEqual(['max-steps', 'max-steps', 'max-steps']);
  });
};
