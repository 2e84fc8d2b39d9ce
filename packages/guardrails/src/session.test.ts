import { memorySessions } from '@h/turn';
import { call, failure, response, scriptedTools } from '@h/turn/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costing, eager, run, worker } from '../test/turns.js';
import { createBudget } from './budget.js';
import { type Allowance, effectiveLimit, type ExtendableLimit, limitNames } from './limits.js';

describe('limits of a session', () => {
  it('are used up by all of its turns', async () => {
    const sessions = memorySessions();
    const options = { session: { maxTokens: 1000 }, wrapUp: false } as const;
    expect(await run([costing(400, 50, 'One.')], options, { sessions })).toMatchObject({ outcome: 'completed' });
    expect(await run([costing(400, 50, 'Two.')], options, { sessions })).toMatchObject({ outcome: 'completed' });
    expect(await run([costing(400, 50, 'Three.')], options, { sessions })).toMatchObject({ outcome: 'completed' });
    expect(await run(['Four.'], options, { sessions })).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 0,
      reason: 'The session has used 1350 of the 1000 tokens that it may use.',
    });
    expect(await run(['Four.'], options, { sessions, session: 'bob' })).toMatchObject({ outcome: 'completed' });
  });

  it.each<readonly [Allowance, string]>([
    [{ maxSteps: 2 }, 'The session has made 2 of the 2 steps that it may make.'],
    [{ maxToolCalls: 1 }, 'The session has made 1 of the 1 tool calls that it may make.'],
    [{ maxExceptions: 1 }, 'The session has had 2 of the 1 failed tool calls that it may have.'],
    [{ maxConsecutiveExceptions: 1 }, 'The session has had 2 of the 1 failing steps in a row that it may have.'],
    [{ maxInputChars: 12 }, 'The session has taken in 15 of the 12 characters that it may take in.'],
    [{ maxOutputChars: 8 }, 'The session has written'],
  ])('hold for %j', async (session, reason) => {
    const sessions = memorySessions();
    const tools = scriptedTools({
      ls: () => {
        throw new Error('No.');
      },
    });
    const reasons: string[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const result = await run(worker(2), { session }, { sessions, tools });
      reasons.push(String(result.reason));
    }
    expect(reasons.join('\n')).toContain(reason);
  });

  it('hold for time, which only runs while a turn does', async () => {
    const sessions = memorySessions();
    const options = { session: { maxDurationMs: 1000 } };
    expect(await run(['One.'], options, { sessions, delayMs: 300 })).toMatchObject({ outcome: 'completed' });
    expect(await run(['Two.'], options, { sessions, delayMs: 300 })).toMatchObject({
      outcome: 'timed-out',
      reason: 'The session has taken 1000 of the 1000 milliseconds that it may take.',
    });
  });

  it('are separate from those of the turn and of a budget', async () => {
    const { of } = await run([eager, eager, eager, eager], {
      maxSteps: 40,
      session: { maxSteps: 3 },
      budget: createBudget({ maxSteps: 30 }),
    });
    expect(of('budget.exceeded')).toMatchObject([{ scope: 'session', limit: 'maxSteps', used: 3, max: 3 }]);
  });

  it('store nothing without limits', async () => {
    expect((await run(worker(3))).of('session.state')).toEqual([]);
  });

  it('ignore invalid stored counters', async () => {
    const sessions = memorySessions();
    for (const value of [7, 'x', [1], { used: 'all' }, { used: { steps: 'many', inputTokens: -5 } }, { version: 9 }]) {
      const { keep, intercept } = await import('@h/turn');
      const writing = intercept('writing', () => ({
        decide: { 'turn.stop': (event) => [event, keep('guardrails', value)] },
      }));
      await run(['Hi'], {}, { sessions, after: [writing] });
      expect(await run(['Hi'], { session: { maxSteps: 5 } }, { sessions })).toMatchObject({ outcome: 'completed' });
    }
  });
});

describe('an extension', () => {
  it('raises a limit as base + (1 + extension) × completions', () => {
    const allowance: Allowance = {
      maxSteps: 5,
      extension: { perCompletion: 0.5, limits: ['maxSteps'], maxFactor: 10 },
    };
    expect([0, 1, 2, 3].map((completions) => effectiveLimit(allowance, 'maxSteps', completions))).toEqual([
      5, 6.5, 8, 9.5,
    ]);
  });

  it('is off at 0, for limits that are not named, and where nothing is limited', () => {
    expect(effectiveLimit({ maxSteps: 5, extension: { perCompletion: 0, limits: ['maxSteps'] } }, 'maxSteps', 9)).toBe(
      5,
    );
    expect(
      effectiveLimit(
        { maxSteps: 5, maxToolCalls: 5, extension: { perCompletion: 1, limits: ['maxSteps'] } },
        'maxToolCalls',
        2,
      ),
    ).toBe(5);
    expect(effectiveLimit({ extension: { perCompletion: 1, limits: ['maxSteps'] } }, 'maxSteps', 2)).toBe(Infinity);
    expect(effectiveLimit({ maxSteps: 5 }, 'maxSteps')).toBe(5);
  });

  it('raises what is not counted in proportion to the steps', () => {
    const allowance: Allowance = {
      maxSteps: 5,
      maxTokens: 10_000,
      maxCost: 2,
      extension: { perCompletion: 0.5, limits: ['maxTokens', 'maxCost'], maxFactor: 10 },
    };
    expect(effectiveLimit(allowance, 'maxTokens', 2)).toBe(16_000);
    expect(effectiveLimit(allowance, 'maxCost', 2)).toBeCloseTo(3.2);
  });

  it('ends at a multiple of the base, twice by default', () => {
    const limits: readonly ExtendableLimit[] = ['maxSteps'];
    expect(effectiveLimit({ maxSteps: 5, extension: { perCompletion: 3, limits } }, 'maxSteps', 100)).toBe(10);
    expect(
      effectiveLimit({ maxSteps: 5, extension: { perCompletion: 3, limits, maxFactor: 1.5 } }, 'maxSteps', 100),
    ).toBe(7.5);
  });

  it('never lowers a limit, and never raises that on a streak', () => {
    const names = limitNames.filter((name): name is ExtendableLimit => name !== 'maxConsecutiveExceptions');
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 5, noNaN: true }),
        fc.nat(50),
        (base, perCompletion, completions) => {
          const allowance = {
            ...Object.fromEntries(limitNames.map((name) => [name, base])),
            extension: { perCompletion, limits: names },
          };
          for (const name of names) {
            const limit = effectiveLimit(allowance, name, completions);
            expect(limit).toBeGreaterThanOrEqual(base);
            expect(limit).toBeLessThanOrEqual(2 * base);
          }
          expect(effectiveLimit(allowance, 'maxConsecutiveExceptions', completions)).toBe(base);
        },
      ),
    );
  });

  it('gives a session room for each turn that was completed', async () => {
    const sessions = memorySessions();
    const session = { maxSteps: 2, extension: { perCompletion: 0.5, limits: ['maxSteps'] as const, maxFactor: 3 } };
    const outcomes: string[] = [];
    for (let turn = 0; turn < 9; turn += 1) {
      outcomes.push((await run(['Done.'], { session }, { sessions, tools: scriptedTools({}) })).outcome);
    }
    expect(outcomes).toEqual([
      'completed',
      'completed',
      'completed',
      'completed',
      'completed',
      'completed',
      'max-steps',
      'max-steps',
      'max-steps',
    ]);
  });

  it('counts no answer that was forced, cut off or asked for tools', async () => {
    const extension = { perCompletion: 1, limits: ['maxSteps'] as const, maxFactor: 100 };
    const result = await run(
      Array.from({ length: 30 }, () => eager),
      { maxSteps: 4, extension, session: {} },
    );
    expect(result).toMatchObject({ outcome: 'max-steps', steps: 4 });
    expect(result.of('session.state').at(-1)?.value).toMatchObject({ used: { completions: 0 } });
  });

  it('gives a turn room when it continues after a completion', async () => {
    const { intercept, proceed } = await import('@h/turn');
    const goOn = intercept('go-on', () => ({
      decide: {
        'turn.stop': (event) =>
          event.outcome === 'completed' ? proceed([{ role: 'user', content: 'And?' }], 'More.') : undefined,
      },
    }));
    const extension = { perCompletion: 0.5, limits: ['maxSteps'] as const };
    expect(
      await run(
        Array.from({ length: 30 }, () => 'Done.'),
        { maxSteps: 4, extension },
        { after: [goOn] },
      ),
    ).toMatchObject({ outcome: 'max-steps', steps: 8 });
    expect(
      await run(
        Array.from({ length: 30 }, () => 'Done.'),
        { maxSteps: 4 },
        { after: [goOn] },
      ),
    ).toMatchObject({ outcome: 'max-steps', steps: 4 });
  });

  it('defeats no limit on a streak of failures', async () => {
    const tools = scriptedTools({
      ls: () => {
        throw new Error('No.');
      },
    });
    const session = {
      maxConsecutiveExceptions: 1,
      maxSteps: 20,
      extension: { perCompletion: 1, limits: ['maxSteps'] as const },
    };
    const sessions = memorySessions();
    for (let turn = 0; turn < 3; turn += 1) await run(['Done.'], { session }, { sessions });
    expect(await run(worker(9), { session }, { sessions, tools })).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 2,
    });
  });
});

describe('a turn whose model fails', () => {
  it('keeps the steps and tokens that it has used', async () => {
    const { of, outcome } = await run([costing(100, 10, call('1', 'ls')), { error: failure('Lost.') }], {
      session: { maxSteps: 9 },
    });
    expect(outcome).toBe('error');
    expect(of('session.state').at(-1)?.value).toMatchObject({
      used: { steps: 2, inputTokens: 100, outputTokens: 10, toolCalls: 1, completions: 0 },
    });
  });

  it('keeps what was done after the last request too', async () => {
    const { of } = await run([response('a', call('1', 'ls')), 'Done.'], { session: { maxSteps: 9 } });
    expect(of('session.state').at(-1)?.value).toMatchObject({
      used: { steps: 2, toolCalls: 1, completions: 1, outputChars: 10 },
    });
  });
});
