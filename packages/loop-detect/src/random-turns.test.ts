import { harness, memorySessions, repairHistory, type SessionStore, type TurnEvent } from '@h/turn';
import { call, failure, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loopDetect, type LoopDetectOptions } from './index.js';

const names = fc.constantFrom('read', 'test', 'edit', 'get_status', 'missing', 'slow');
const asked = fc.array(fc.tuple(names, fc.nat(1)), { minLength: 1, maxLength: 3 });
const step: fc.Arbitrary<ScriptStep> = fc.oneof(
  {
    weight: 8,
    arbitrary: asked.map((calls): ScriptStep =>
      response(...calls.map(([name, input], index) => call(`${index}`, name, { input }))),
    ),
  },
  {
    weight: 1,
    arbitrary: asked.map((calls): ScriptStep => ({
      ...response('Cut', ...calls.map(([name], index) => call(`${index}`, name))),
      finishReason: 'length',
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<ScriptStep>(
      'Done.',
      'I will now do it, at once and in full. '.repeat(40),
      { error: failure('Broken.') },
      { cut: ['Hm'] },
    ),
  },
);
/** Low thresholds, so that short scripts reach every level. */
const options: fc.Arbitrary<LoopDetectOptions> = fc.constantFrom<LoopDetectOptions>(
  {},
  {
    detectors: { 'no-progress': { warn: 2, block: 2 }, cycle: { warn: 2, block: 2 }, churn: { warn: 2, block: 2 } },
    warnEvery: 1,
  },
  { detectors: { 'unknown-tool': { warn: 1, block: 2, break: 2 }, breaker: { warn: 1, break: 2 } }, summary: false },
  { maxRepeatedSteps: 2, doomLoopThreshold: 2, forgiveAfter: 0, chanting: { minChars: 50, rounds: 2 } },
);
const scenario = fc.record({
  /** A few different steps, each repeated several times. */
  steps: fc.array(step, { minLength: 1, maxLength: 4 }),
  order: fc.array(fc.nat(3), { maxLength: 14 }),
  options,
  delayMs: fc.constantFrom(undefined, 1),
  storeDelayMs: fc.constantFrom(undefined, 3),
  steerAt: fc.option(fc.nat(80), { nil: undefined }),
  abortAt: fc.option(fc.nat(120), { nil: undefined }),
  leaveAt: fc.option(fc.nat(120), { nil: undefined }),
});

/** Adds a delay to a store. */
const slow = (store: SessionStore, delayMs: number): SessionStore => ({
  ...store,
  open: async (...given) => {
    const session = await store.open(...given);
    return {
      ...session,
      append: async (record) => {
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        await session.append(record);
      },
      close: () => session.close(),
    };
  },
});

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a generated turn with loopDetect', () => {
  it('ends once with a valid transcript, and leaves no timers or sessions open', async () => {
    const outcomes = new Map<string, number>();
    const property = fc.asyncProperty(
      scenario,
      async ({ steps, order, options: given, delayMs, storeDelayMs, steerAt, abortAt, leaveAt }) => {
        const sessions = memorySessions();
        const script = [
          ...order.map((index) => steps[index % steps.length] ?? 'Done.'),
          ...Array.from({ length: 4 }, (): ScriptStep => 'Done.'),
        ];
        const model = scriptedModel(script, delayMs === undefined ? {} : { delayMs });
        const tools = scriptedTools({
          read: 'contents',
          edit: 'Changed.',
          get_status: 'running',
          test: () => {
            throw new Error('The same as ever.');
          },
          slow: () => new Promise((resolve) => setTimeout(() => resolve('at last'), 2)),
        });
        const agent = harness({
          model,
          tools,
          sessions: storeDelayMs === undefined ? sessions : slow(sessions, storeDelayMs),
        }).pipe(loopDetect(given));
        const controller = new AbortController();
        const events: TurnEvent[] = [];
        let isComplete = false;
        const subscription = agent.turn({ session: 'alice', input: 'Go.', signal: controller.signal }).subscribe({
          next: (event) => {
            events.push(event);
            if (events.length === steerAt) agent.steer('alice', 'Hurry.');
            if (events.length === abortAt) controller.abort();
            if (events.length === leaveAt) queueMicrotask(() => subscription.unsubscribe());
          },
          complete: () => {
            isComplete = true;
          },
        });
        await vi.advanceTimersByTimeAsync(20_000);
        expect(isComplete || subscription.closed, 'it hangs').toBe(true);
        if (isComplete) {
          expect(events.filter(({ type }) => type === 'turn.end')).toHaveLength(1);
          const end = events.at(-1);
          expect(end?.type).toBe('turn.end');
          if (end?.type === 'turn.end') {
            outcomes.set(end.outcome, (outcomes.get(end.outcome) ?? 0) + 1);
            if (end.outcome === 'error') expect(end.error?.name).not.toBe('OperatorError');
          }
        }
        expect([vi.getTimerCount(), model.active, tools.active, agent.running().length]).toEqual([0, 0, 0, 0]);
        expect(repairHistory(sessions.messages('alice')).repairs).toEqual([]);
      },
    );
    await fc.assert(property, { numRuns: 400 });
    expect([...outcomes.keys()]).toEqual(expect.arrayContaining(['completed', 'loop-detected', 'cancelled', 'error']));
  });
});
