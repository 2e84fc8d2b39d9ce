import { harness, repairHistory, reply, type ModelDriver, type Reply, type TurnEvent } from '@h/turn';
import { call, event, request, response, scriptedTools, user } from '@h/turn/testing';
import { describeOperator, marbles } from '@h/turn/vitest';
import * as fc from 'fast-check';
import { asyncScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { eager, run, worker } from '../test/turns.js';
import { createBudget } from './budget.js';
import { guardrails } from './guardrails.js';
import type { GuardrailsOptions } from './options.js';

const requestOf = (step: number, attempt = 1): TurnEvent => event('model.request', { step, attempt, ...request() });
const changes = ['turn.stop', 'model.request', 'model.response', 'session.state', 'budget.near'];

describe('guardrails', () => {
  describeOperator(() => guardrails());
  describeOperator(() => guardrails({ maxSteps: 2 }), { changes, completes: false });
  describeOperator(
    () =>
      guardrails({
        maxDurationMs: 1e9,
        maxTokens: 1e9,
        maxCost: 1e9,
        costOf: () => 1,
        session: { maxTokens: 1e9 },
        budget: createBudget({ maxTokens: 1e9, maxDurationMs: 1e9 }),
        maxTokensRecoveries: 1,
      }),
    { changes },
  );

  it('announces the first of its limits on duration as the deadline of the turn', async () => {
    const deadlines: (number | undefined)[] = [];
    const model: ModelDriver = (_, { deadlineAt }) => {
      deadlines.push(deadlineAt);
      return [{ type: 'response', response: response('Done.') }];
    };
    const scheduler = { now: () => 5000, schedule: asyncScheduler.schedule.bind(asyncScheduler) };
    const start = (options: GuardrailsOptions): Promise<Reply> =>
      reply(harness({ model, scheduler }).pipe(guardrails(options)).turn({ session: 'alice', input: 'Go.' }));
    await start({});
    await start({ maxDurationMs: 60_000, session: { maxDurationMs: 20_000 } });
    await start({ maxDurationMs: 60_000, budget: createBudget({ maxDurationMs: 90_000 }) });
    expect(deadlines).toEqual([undefined, 25_000, 65_000]);
  });

  it('lets the last allowed step pass and answers the next one with a stop', () => {
    marbles(({ turn, expectObservable }) => {
      const events = { a: requestOf(1), b: requestOf(2), c: requestOf(3) };
      const limit = { turn: 'turn-1', at: 0, scope: 'turn', limit: 'maxSteps', max: 2 } as const;
      const expected = {
        ...events,
        n: { ...limit, type: 'budget.near', used: 1, left: 1 } as const,
        x: { ...limit, type: 'budget.exceeded', used: 2 } as const,
        s: {
          type: 'turn.stop',
          turn: 'turn-1',
          at: 0,
          outcome: 'max-steps',
          reason: 'The turn has made 2 of the 2 steps that it may make.',
        } as const,
      };
      expectObservable(turn('a-----b----c---|', events).pipe(guardrails({ maxSteps: 2 }))).toBe(
        'a-----(nb)-(xs)|',
        expected,
      );
    });
  });

  it('counts a step that is asked again once', () => {
    marbles(({ turn, expectObservable }) => {
      const events = { a: requestOf(1), b: requestOf(1, 2), c: requestOf(1, 3) };
      expectObservable(turn('a-b-c|', events).pipe(guardrails({ maxSteps: 1 }))).toBe('a-b-c|', events);
    });
  });

  it.each([undefined, 1])('ends the turn before the step over the limit is started (delay %s)', async (delayMs) => {
    const { outcome, reason, steps, model, transcript } = await run(
      worker(4),
      { maxSteps: 3, wrapUp: false },
      { delayMs },
    );
    expect({ outcome, reason, steps, requests: model.requests.length }).toEqual({
      outcome: 'max-steps',
      reason: 'The turn has made 3 of the 3 steps that it may make.',
      steps: 3,
      requests: 3,
    });
    expect(transcript.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
  });

  it('starts nothing when no step is allowed, and gives the input back', async () => {
    const { outcome, reason, model, transcript, of } = await run(worker(1), { maxSteps: 0 });
    expect({ outcome, reason, requests: model.requests.length }).toEqual({
      outcome: 'max-steps',
      reason: 'The turn has made 0 of the 0 steps that it may make.',
      requests: 0,
    });
    expect(transcript).toEqual([]);
    expect(of('turn.end')[0]?.undelivered).toEqual([user('Work.')]);
  });

  it('allows 50 steps by default', async () => {
    expect(await run(worker(50), { wrapUp: false })).toMatchObject({ outcome: 'completed', steps: 50 });
    expect(await run(worker(51))).toMatchObject({ outcome: 'max-steps', steps: 50 });
  });

  it('sets no limit when it is infinite', async () => {
    expect(await run(worker(120), { maxSteps: Infinity })).toMatchObject({ outcome: 'completed', steps: 120 });
  });

  it('starts as many steps as are allowed and no more, for every limit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(8), fc.integer({ min: 1, max: 8 }), fc.boolean(), async (maxSteps, needed, sumsUp) => {
        const { outcome, steps } = await run(worker(needed), { maxSteps, ...(!sumsUp && { wrapUp: false }) });
        // Without tools, an answer and a summary look the same, unless the first step is the last.
        const isDone = needed < maxSteps || (needed === maxSteps && (!sumsUp || needed === 1));
        expect({ outcome, steps }).toEqual({
          outcome: isDone ? 'completed' : 'max-steps',
          steps: Math.min(maxSteps, needed),
        });
      }),
      { numRuns: 40 },
    );
  });
});

describe('the last step that a limit allows', () => {
  it('runs without tools, sums up, and ends the turn with the numbers', async () => {
    const { outcome, reason, text, model, of } = await run([eager, eager, eager, eager], { maxSteps: 3 });
    expect({ outcome, reason, text }).toEqual({
      outcome: 'max-steps',
      reason: 'The turn has made 3 of the 3 steps that it may make. Its last step ran without tools, to sum up.',
      text: 'This is what is done.',
    });
    expect(model.requests.map(({ settings, tools }) => [settings.toolChoice, tools.length])).toEqual([
      [undefined, 1],
      [undefined, 1],
      ['none', 1],
    ]);
    expect(of('budget.wrap-up')).toMatchObject([{ scope: 'turn', limit: 'maxSteps', used: 2, max: 3, step: 3 }]);
    expect(of('budget.exceeded')).toMatchObject([{ scope: 'turn', limit: 'maxSteps', used: 3, max: 3 }]);
  });

  it('tells the model so in that request alone, and leaves the history as it is', async () => {
    const { model, transcript } = await run([eager, eager, eager], { maxSteps: 3 });
    const tails = model.requests.map(({ tail }) =>
      tail.map(({ content, metadata }) => [metadata?.kind, metadata?.internal, JSON.stringify(content).slice(1, 56)]),
    );
    expect(tails).toEqual([[], [], [['budget-last', true, 'The turn has made 2 of the 3 steps that it may make. Th']]]);
    expect(transcript.filter(({ role }) => role === 'user')).toHaveLength(1);
  });

  it('tells the model once that a limit comes near', async () => {
    const { model, of } = await run(
      Array.from({ length: 20 }, () => eager),
      { maxSteps: 20 },
    );
    const kinds = model.requests.map(({ tail }) => tail.map(({ metadata }) => metadata?.kind).join());
    expect(kinds).toEqual([...Array.from({ length: 18 }, () => ''), 'budget-near', 'budget-last']);
    expect(of('budget.near')).toMatchObject([{ limit: 'maxSteps', used: 18, left: 2, max: 20 }]);
  });

  it('refuses the calls of a model that asks for tools all the same, and ends after it', async () => {
    const tools = scriptedTools({ ls: 'a.txt' });
    const { outcome, reason, transcript } = await run(worker(9), { maxSteps: 2 }, { tools });
    expect({ outcome, reason }).toEqual({
      outcome: 'max-steps',
      reason: 'The turn has made 2 of the 2 steps that it may make.',
    });
    expect(tools.ran).toHaveLength(1);
    expect(transcript.at(-1)).toMatchObject({
      content: [
        {
          output: {
            type: 'execution-denied',
            reason: expect.stringContaining('No tools run in the last step.') as string,
          },
        },
      ],
    });
  });

  it('is like any other if there are no tools', async () => {
    const { outcome, model } = await run(['Hello.'], { maxSteps: 1 }, { tools: scriptedTools({}) });
    expect(outcome).toBe('completed');
    expect(model.requests[0]).toMatchObject({ settings: {}, tail: [] });
  });

  it('is an ordinary answer where it is the first', async () => {
    const { outcome, model } = await run(['Hello.'], { maxSteps: 1 });
    expect(outcome).toBe('completed');
    expect(model.requests[0]?.settings.toolChoice).toBe('none');
  });

  it('says what the caller wants it to say', async () => {
    const wrapUp = { nearText: 'Hurry up.', lastText: 'Say goodbye.' };
    const { model } = await run([eager, eager, eager], { maxSteps: 3, reserveSteps: 2, wrapUp });
    expect(model.requests.map(({ tail }) => tail[0]?.content)).toEqual([
      undefined,
      'The turn has made 1 of the 3 steps that it may make. Hurry up.',
      'The turn has made 2 of the 3 steps that it may make. Say goodbye.',
    ]);
  });

  it('stays as it was without wrap-up, but for the notices', async () => {
    const { model, of, outcome } = await run(worker(3), { maxSteps: 3, wrapUp: false });
    expect(outcome).toBe('completed');
    expect(model.requests.every(({ settings, tail }) => settings.toolChoice === undefined && tail.length === 0)).toBe(
      true,
    );
    expect(of('budget.near')).toHaveLength(1);
  });

  it('keeps a system prompt, tools and history that the cache knows', async () => {
    const { model } = await run([response(call('1', 'ls')), 'Done.'], { maxSteps: 2 });
    const [first, last] = model.requests;
    expect(last?.tools).toBe(first?.tools);
    expect(last?.system).toBe(first?.system);
    expect(first && last?.messages.startsWith(first.messages)).toBe(true);
    expect(repairHistory(last?.messages ?? []).repairs).toEqual([]);
  });
});
