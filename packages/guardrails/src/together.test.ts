import { harness, intercept, memorySessions, reply, retry, type TurnOperator, type TurnEventOf } from '@h/turn';
import { call, failure, response, scriptedModel, scriptedTools, type ScriptStep } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { costing, cut, eager, run } from '../test/turns.js';
import { createBudget } from './budget.js';
import { guardrails } from './guardrails.js';

/** Retries after every error, further down the pipe. */
const retrying = (): TurnOperator =>
  intercept('retrying', () => ({
    decide: { 'model.error': (event) => (event.error.code === 'aborted' ? undefined : retry(event)) },
  }));

describe('a call that is retried further down', () => {
  it('is one step, keeps its warning, and counts the tokens of each attempt', async () => {
    const failing: ScriptStep = { error: failure('Busy.'), after: ['x'.repeat(400)] };
    const { outcome, steps, model, of } = await run(
      [eager, failing, failing, eager],
      { maxSteps: 2, session: { maxTokens: 1e6 } },
      { after: [retrying()] },
    );
    expect({ outcome, steps }).toEqual({ outcome: 'max-steps', steps: 2 });
    expect(model.requests.map(({ tail }) => tail[0]?.metadata?.kind)).toEqual([
      undefined,
      'budget-last',
      'budget-last',
      'budget-last',
    ]);
    expect(of('session.state').at(-1)?.value).toMatchObject({ used: { steps: 2, outputTokens: 100 + 100 + 10 } });
  });

  it('gives back what it has set aside when it is never answered', async () => {
    const budget = createBudget({ maxOutputTokens: 5000 });
    await run([{ error: failure('Lost.') }], { budget });
    expect(budget.reserve({ outputTokens: 5000 })).toBeDefined();
    expect(budget.used().outputTokens).toBe(0);
  });

  it('continues a truncated answer', async () => {
    const { text, outcome } = await run(
      [cut('The quick brown '), { error: failure('Busy.'), after: ['The quick'] }, 'The quick brown fox.'],
      {},
      { after: [retrying()] },
    );
    expect({ text, outcome }).toEqual({ text: 'The quick brown fox.', outcome: 'completed' });
  });
});

describe('a step that is answered further down', () => {
  it('counts as one step, with the usage of its answer', async () => {
    const answering = intercept('answering', () => ({
      decide: {
        'model.request': ({ step, attempt }) => ({
          type: 'model.response',
          step,
          attempt,
          ...response(call(`c${step}`, 'ls')),
        }),
      },
    }));
    const budget = createBudget({ maxOutputTokens: 1e6 });
    expect(await run([], { maxSteps: 3, budget, wrapUp: false }, { after: [answering] })).toMatchObject({
      outcome: 'max-steps',
      steps: 3,
    });
    expect(budget.used()).toMatchObject({ steps: 3, outputTokens: 15 });
    expect(budget.reserve({ outputTokens: 1e6 - 15 })).toBeDefined();
  });
});

describe('a sub-agent with a share of the budget', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  const family = (options: Parameters<typeof createBudget>[0], child: Parameters<typeof createBudget>[0]) => {
    const budget = createBudget({ name: 'job', ...options });
    const childModel = scriptedModel(
      Array.from({ length: 30 }, () => eager),
      { delayMs: 10 },
    );
    const tools = scriptedTools({
      research: async () => {
        const agent = harness({ model: childModel, tools: scriptedTools({ ls: 'a.txt' }) }).pipe(
          guardrails({ budget: budget.share({ name: 'researcher', ...child }) }),
        );
        const { text, outcome } = await reply(agent.turn({ session: 'child', input: 'Look.', trigger: 'subagent' }));
        return `${outcome}: ${text}`;
      },
    });
    const model = scriptedModel(
      [response(call('1', 'research')), ({ messages }) => `I was told: ${JSON.stringify(messages.at(-1)?.content)}`],
      { delayMs: 10 },
    );
    const agent = harness({ model, tools }).pipe(guardrails({ budget }));
    return { budget, childModel, ended: reply(agent.turn({ session: 'parent', input: 'Go.' })) };
  };

  it('ends with a summary that its parent reads, and what both have used adds up', async () => {
    const { budget, ended } = family({ maxSteps: 20 }, { maxSteps: 3 });
    await vi.advanceTimersByTimeAsync(10_000);
    const { outcome, text } = await ended;
    expect(outcome).toBe('completed');
    expect(text).toContain('max-steps: This is what is done.');
    expect(budget.used()).toMatchObject({ steps: 5, toolCalls: 3 });
  });

  it('is ended with its parent when the budget is cut off', async () => {
    const { budget, childModel, ended } = family({}, {});
    await vi.advanceTimersByTimeAsync(45);
    budget.cutOff('Stop it.');
    expect(await ended).toMatchObject({ outcome: 'budget-exceeded', reason: 'The budget was cut off: Stop it.' });
    expect([childModel.active, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('waits for no one while its parent waits for it', async () => {
    const { ended } = family({ maxOutputTokens: 60 }, {});
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await ended).toMatchObject({ outcome: 'budget-exceeded' });
  });
});

describe('a message that is steered in', () => {
  it('ends the turn when it is longer than what may come in, and comes back', async () => {
    const sessions = memorySessions();
    const model = scriptedModel([response(call('1', 'ls')), 'Done.'], { delayMs: 5 });
    const agent = harness({ model, sessions, tools: scriptedTools({ ls: 'a.txt' }) }).pipe(
      guardrails({ maxInputChars: 20 }),
    );
    const ended = new Promise<TurnEventOf<'turn.end'>>((resolve) => {
      agent.turn({ session: 'alice', input: 'Short.' }).subscribe((event) => {
        if (event.type === 'model.request' && event.step === 1) agent.steer('alice', 'This is longer than 20.');
        if (event.type === 'turn.end') resolve(event);
      });
    });
    expect(await ended).toMatchObject({
      outcome: 'budget-exceeded',
      undelivered: [{ content: 'This is longer than 20.' }],
    });
    expect(JSON.stringify(sessions.messages('alice'))).not.toContain('longer');
  });
});

describe('usage', () => {
  it('counts tokens that were read from the cache once', async () => {
    const answer = {
      ...costing(1000, 10, 'Done.'),
      usage: { input: 1000, cacheRead: 900, cacheWrite: 50, output: 10, reasoning: 5 },
    };
    const budget = createBudget();
    await run([answer], { budget });
    expect(budget.used()).toMatchObject({ inputTokens: 1000, outputTokens: 10 });
  });
});

describe('a failed attempt with a reservation in a shared budget', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 0 }));
  afterEach(() => void vi.useRealTimers());

  it('releases the reservation before the attempt is repeated', async () => {
    const budget = createBudget({ maxOutputTokens: 1000 });
    const model = scriptedModel([{ error: failure('Lost.') }, 'Done.']);
    const ended = reply(
      harness({ model })
        .pipe(guardrails({ budget, wrapUp: false }), retrying())
        .turn({ session: 'a', input: 'Go.' }),
    );
    await vi.advanceTimersByTimeAsync(1000);
    expect(await ended).toMatchObject({ outcome: 'completed', text: 'Done.' });
    expect(budget.reserve({ outputTokens: 1000 - budget.used().outputTokens })).toBeDefined();
  });
});
