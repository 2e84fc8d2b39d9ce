import { call, failure, ok, response, scriptedModel, scriptedTools, user, type ScriptStep } from '@h/turn/testing';
import { deny, harness, intercept, reply, type ToolOutcome } from '@h/turn';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costing, eager, run, worker } from '../test/turns.js';
import { createBudget } from './budget.js';
import { guardrails } from './guardrails.js';
import type { GuardrailsOptions } from './options.js';

const looking = (input: number, output: number): ScriptStep => costing(input, output, call('again', 'ls'));
const failing: ToolOutcome = { status: 'failed', error: failure('No.'), output: { type: 'error-text', value: 'No.' } };
const endless = (step: ScriptStep): readonly ScriptStep[] => Array.from({ length: 30 }, () => step);

describe('a limit on tokens', () => {
  it.each<readonly [GuardrailsOptions, number, string]>([
    [{ maxTokens: 1000 }, 9, 'The turn has used 990 of the 1000 tokens that it may use.'],
    [
      { maxInputTokens: 1000 },
      9,
      'The turn has sent 900 of the 1000 tokens that it may send. The rest is not enough for another step.',
    ],
    [{ maxOutputTokens: 95 }, 10, 'The turn has received 100 of the 95 tokens that it may receive.'],
  ])('%j ends a turn that sends 100 and receives 10 tokens a step after step %i', async (options, steps, reason) => {
    const result = await run(endless(looking(100, 10)), { ...options, wrapUp: false });
    expect(result).toMatchObject({
      outcome: 'budget-exceeded',
      steps,
      reason: expect.stringContaining(reason) as string,
    });
  });

  it('stops before a step that would not fit, by what the requests before it have taken', async () => {
    const { steps, reason } = await run(endless(looking(400, 10)), { maxTokens: 1000, wrapUp: false });
    expect({ steps, reason }).toEqual({
      steps: 2,
      reason: 'The turn has used 820 of the 1000 tokens that it may use. The rest is not enough for another step.',
    });
  });

  it('keeps room for a last answer, and sums up in it', async () => {
    const step: ScriptStep = ({ settings }) =>
      settings.toolChoice === 'none'
        ? costing(400, 50, 'This is what is done.')
        : costing(400, 10, call('again', 'ls'));
    const { steps, outcome, text, usage, model } = await run(endless(step), {
      maxTokens: 2000,
      wrapUp: { tokens: 200 },
    });
    expect({ outcome, text }).toEqual({ outcome: 'budget-exceeded', text: 'This is what is done.' });
    expect(usage.input + usage.output).toBeLessThanOrEqual(2000);
    expect(steps).toBe(3);
    expect(model.requests.at(-1)?.settings).toMatchObject({
      toolChoice: 'none',
      maxOutputTokens: expect.any(Number) as number,
    });
  });

  it('lowers maxOutputTokens to what is left, and never raises it', async () => {
    const answers = [costing(100, 100, call('1', 'ls')), costing(100, 10, 'Done.')];
    const { model } = await run(answers, { maxOutputTokens: 1100, wrapUp: { tokens: 100 } });
    expect(model.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([1000, 900]);
    const modest = intercept('modest', () => ({
      decide: { 'model.request': (request) => ({ ...request, settings: { maxOutputTokens: 50 } }) },
    }));
    const { model: other } = await run(
      answers,
      { maxOutputTokens: 1100, wrapUp: { tokens: 100 } },
      { before: [modest] },
    );
    expect(other.requests.map(({ settings }) => settings.maxOutputTokens)).toEqual([50, 50]);
  });

  it('leaves maxOutputTokens alone where there is plenty', async () => {
    const { model } = await run(['Done.'], { maxTokens: 1_000_000 });
    expect(model.requests[0]?.settings.maxOutputTokens).toBeUndefined();
  });

  it('gives a finished answer back, though it has overrun the limit', async () => {
    const { outcome, text } = await run([costing(100, 5000, 'All done.')], { maxTokens: 1000 });
    expect({ outcome, text }).toEqual({ outcome: 'completed', text: 'All done.' });
  });

  it('answers the calls of an answer that has overrun it, and runs none', async () => {
    const tools = scriptedTools({ ls: 'a.txt' });
    const { outcome, reason, transcript } = await run(
      [costing(100, 5000, call('1', 'ls'))],
      { maxTokens: 1000 },
      { tools },
    );
    expect({ outcome, reason, ran: tools.ran.length }).toEqual({
      outcome: 'budget-exceeded',
      reason: 'The turn has used 5100 of the 1000 tokens that it may use.',
      ran: 0,
    });
    expect(transcript.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('counts by estimate what a provider does not count', async () => {
    const { steps, reason } = await run(endless(costing(0, 0, 'x'.repeat(400), call('again', 'ls'))), {
      maxOutputTokens: 1000,
      wrapUp: false,
    });
    expect(steps).toBe(9);
    expect(reason).toMatch(/^The turn has received 10\d\d of the 1000 tokens/);
  });

  it('lets nothing begin at 0, and anything at Infinity', async () => {
    for (const limit of ['maxTokens', 'maxInputTokens', 'maxOutputTokens'] as const) {
      expect(await run(['Hi'], { [limit]: 0 })).toMatchObject({ outcome: 'budget-exceeded', steps: 0 });
      expect(await run([costing(1e9, 1e9, 'Hi')], { [limit]: Infinity })).toMatchObject({ outcome: 'completed' });
    }
  });

  it('is never overrun by a model that keeps to maxOutputTokens, whatever it says', async () => {
    const sizes = fc.array(
      fc.record({ input: fc.integer({ min: 1, max: 60 }), output: fc.integer({ min: 1, max: 3000 }) }),
      { minLength: 12, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 300, max: 20_000 }), async (steps, maxTokens) => {
        let sent = 50;
        const script = steps.map(({ input, output }): ScriptStep => ({ settings }) => {
          const received = Math.min(output, settings.maxOutputTokens ?? Infinity);
          const said = costing(sent, received, settings.toolChoice === 'none' ? 'Done.' : call('again', 'ls'));
          // What was received is sent again, and so is a result.
          sent += received + Math.min(input, 4);
          return said;
        });
        const { usage, outcome } = await run(
          script,
          { maxTokens, wrapUp: { tokens: 100 }, estimateTokens: (text) => text.length },
          { tools: scriptedTools({ ls: 'abcd' }) },
        );
        if (outcome !== 'error') expect(usage.input + usage.output).toBeLessThanOrEqual(maxTokens);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a limit on tool calls', () => {
  it('runs as many calls as allowed and denies the rest of the step', async () => {
    const tools = scriptedTools({ ls: 'a.txt' });
    const { outcome, reason, transcript, text } = await run(
      [response(call('1', 'ls'), call('2', 'ls'), call('3', 'ls')), eager],
      { maxToolCalls: 2 },
      { tools },
    );
    expect(tools.ran.map(({ id }) => id)).toEqual(['1', '2']);
    expect({ outcome, reason, text }).toEqual({
      outcome: 'budget-exceeded',
      reason: 'The turn has made 2 of the 2 tool calls that it may make. Its last step ran without tools, to sum up.',
      text: 'This is what is done.',
    });
    expect(JSON.stringify(transcript)).toContain('execution-denied');
  });

  it('refuses calls over it, though another limit of a shared budget was overrun meanwhile', async () => {
    const budget = createBudget({ maxTokens: 1000, maxToolCalls: 0 });
    const tools = scriptedTools({ ls: 'a.txt' });
    const overrunning = intercept('overrunning', () => ({
      observe: { 'tool.call': () => budget.spend({ inputTokens: 5000 }) },
    }));
    await run(worker(2), { budget, wrapUp: false }, { tools, before: [overrunning] });
    expect(tools.ran).toHaveLength(0);
  });

  it('runs none at 0, and is done when the model is', async () => {
    const tools = scriptedTools({ ls: 'a.txt' });
    const { outcome, model } = await run([response(call('1', 'ls')), 'So be it.'], { maxToolCalls: 0 }, { tools });
    expect({ outcome, ran: tools.ran.length }).toEqual({ outcome: 'completed', ran: 0 });
    expect(model.requests.map(({ settings }) => settings.toolChoice)).toEqual(['none', 'none']);
  });

  it('does not count what did not run', async () => {
    const tools = scriptedTools({ ls: 'a.txt' });
    const { outcome } = await run(
      [response(call('1', 'gone')), response(call('2', 'ls')), 'Done.'],
      { maxToolCalls: 2 },
      { tools },
    );
    expect(outcome).toBe('completed');
    expect(tools.ran).toHaveLength(1);
  });
});

describe('a limit on cost', () => {
  const costOf = ({ input, output }: { input: number; output: number }): number => (input + 5 * output) / 1000;

  it('ends the turn, with what was spent', async () => {
    const { steps, reason, outcome } = await run(endless(looking(100, 20)), { maxCost: 1, costOf, wrapUp: false });
    expect({ steps, reason, outcome }).toEqual({
      steps: 5,
      outcome: 'budget-exceeded',
      reason: 'The turn has cost 1 of the 1 units of money that it may cost.',
    });
  });

  it('keeps room for a last answer and clamps it by its price', async () => {
    const { text, outcome, model } = await run(
      endless(({ settings }) =>
        settings.toolChoice === 'none' ? costing(100, 20, 'Summary.') : costing(100, 20, call('again', 'ls')),
      ),
      { maxCost: 1, costOf, wrapUp: { tokens: 20 } },
    );
    expect({ text, outcome }).toEqual({ text: 'Summary.', outcome: 'budget-exceeded' });
    expect(model.requests.at(-1)?.settings.maxOutputTokens).toBeLessThanOrEqual(60);
  });

  it('tells when it comes near, at its own share', async () => {
    const { of } = await run(endless(looking(100, 20)), {
      maxCost: 1,
      costOf,
      reserveCostFraction: 0.5,
      wrapUp: false,
    });
    expect(of('budget.near')).toMatchObject([{ limit: 'maxCost', max: 1, used: expect.closeTo(0.6) as number }]);
  });

  it('ends the turn before its next step if a price is unknown', async () => {
    const { steps, reason, outcome, of } = await run(endless(looking(100, 20)), {
      maxCost: 1,
      costOf: () => undefined,
    });
    expect({ steps, outcome, reason }).toEqual({
      steps: 1,
      outcome: 'budget-exceeded',
      reason: 'The cost of 1 model call of the turn is unknown, so its limit of 1 cannot be enforced.',
    });
    expect(of('budget.cost-unknown')).toHaveLength(1);
  });

  it.each([Number.NaN, -1, Infinity, 'free' as never])('takes a price of %s for unknown', async (price) => {
    expect(await run(worker(2), { maxCost: 1, costOf: () => price })).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 1,
    });
  });

  it('takes a price list that throws for one that does not know', async () => {
    const costOf = (): never => {
      throw new Error('No such model.');
    };
    expect(await run(worker(2), { maxCost: 1, costOf })).toMatchObject({ outcome: 'budget-exceeded', steps: 1 });
  });

  it('counts what is known, where the unknown is to be ignored', async () => {
    const prices = [0.4, undefined, 0.4, undefined, 0.4];
    let calls = 0;
    const model: ScriptStep = () => ({ ...costing(100, 20, call('again', 'ls')), model: `m${(calls += 1)}` });
    const { steps, of } = await run(endless(model), {
      maxCost: 1.3,
      unknownCost: 'ignore',
      costOf: (_, name) => prices[Number(name?.slice(1)) - 1],
      wrapUp: false,
    });
    expect(steps).toBe(5);
    expect(of('budget.cost-unknown').map(({ model: name }) => name)).toEqual(['m2', 'm4']);
  });

  it('prices a call by the requested name if the provider answers with another name', async () => {
    const forecasts: (string | undefined)[] = [];
    const own: ScriptStep = () => ({ ...costing(100, 20, call('again', 'ls')), model: 'llama3.2:3b' });
    const agent = harness({
      model: scriptedModel(endless(own)),
      tools: scriptedTools({ ls: 'a.txt' }),
      defaultModel: 'ollama/llama3.2',
    }).pipe(
      guardrails({
        maxCost: 1,
        wrapUp: false,
        costOf: (used, name) => {
          forecasts.push(name);
          return name === 'ollama/llama3.2' ? costOf(used) : undefined;
        },
      }),
    );
    const { steps, reason } = await reply(agent.turn({ session: 'a', input: 'Go' }));
    expect({ steps, reason }).toEqual({
      steps: 5,
      reason: 'The turn has cost 1 of the 1 units of money that it may cost.',
    });
    expect(new Set(forecasts)).toEqual(new Set(['ollama/llama3.2']));
  });

  it('ends every turn, whatever the price and the limit, alone and with a budget', async () => {
    const amount = fc.double({ min: 1e-9, max: 10, noNaN: true });
    await fc.assert(
      fc.asyncProperty(amount, amount, amount, fc.boolean(), async (perInput, perOutput, maxCost, isShared) => {
        const costOf = ({ input, output }: { input: number; output: number }): number =>
          input * perInput + output * perOutput;
        const limit = isShared ? { budget: createBudget({ maxCost }).share({ maxCost: maxCost * 0.7 }) } : { maxCost };
        const { outcome } = await run(endless(looking(7, 3)), {
          maxSteps: 12,
          ...limit,
          costOf,
          wrapUp: { tokens: 3 },
        });
        expect(['budget-exceeded', 'max-steps']).toContain(outcome);
      }),
      { numRuns: 60 },
    );
  });

  it('lets free models work at 0', async () => {
    expect(await run(worker(3), { maxCost: 0, costOf: () => 0 })).toMatchObject({ outcome: 'completed' });
    expect(await run(worker(3), { maxCost: 0, costOf: () => 1 })).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 0,
    });
  });
});

describe('a limit on exceptions', () => {
  const tools = (results: readonly ToolOutcome[]) => {
    let place = -1;
    return scriptedTools({ ls: () => results[(place += 1)] ?? ok('fine') });
  };
  const good = ok('fine');

  it('allows N and ends the turn with the N+1st', async () => {
    const result = await run(
      worker(9),
      { maxExceptions: 2 },
      { tools: tools([failing, good, failing, good, failing]) },
    );
    expect(result).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 5,
      reason: 'The turn has had 3 of the 2 failed tool calls that it may have.',
    });
  });

  it('ends with the first at 0', async () => {
    expect(await run(worker(9), { maxExceptions: 0 }, { tools: tools([failing]) })).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 1,
    });
  });

  it('counts steps in a row for a streak, which a step without failures ends', async () => {
    const options = { maxConsecutiveExceptions: 1 };
    expect(await run(worker(6), options, { tools: tools([failing, good, failing, good, failing]) })).toMatchObject({
      outcome: 'completed',
    });
    expect(await run(worker(6), options, { tools: tools([good, failing, failing]) })).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 3,
      reason: 'The turn has had 2 of the 1 failing steps in a row that it may have.',
    });
  });

  it('continues a streak over a step in which nothing ran', async () => {
    const steps = [response(call('1', 'ls')), response(call('2', 'ls')), response(call('3', 'ls')), 'Done.'];
    const denying = intercept('denying', () => ({
      decide: { 'tool.call': (event) => (event.call.id === '2' ? deny(event, 'No.', 'denying') : undefined) },
    }));
    const given = { tools: tools([failing, failing]), before: [denying] };
    expect(await run(steps, { maxConsecutiveExceptions: 1 }, given)).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 3,
    });
  });

  it('takes a step for failing in which one of several calls failed', async () => {
    const step = response(call('1', 'ls'), call('2', 'ls'));
    expect(
      await run(
        [step, step, 'Done.'],
        { maxConsecutiveExceptions: 1 },
        { tools: tools([failing, good, good, failing]) },
      ),
    ).toMatchObject({ outcome: 'budget-exceeded', steps: 2 });
    expect(
      await run(
        [step, 'Done.'],
        { maxConsecutiveExceptions: 1, maxExceptions: 2 },
        { tools: tools([failing, failing]) },
      ),
    ).toMatchObject({ outcome: 'completed' });
  });

  it.each<readonly [string, ToolOutcome, boolean]>([
    ['a call that timed out', { status: 'timed-out', timeoutMs: 5, output: { type: 'error-text', value: '' } }, true],
    ['invalid input', { status: 'invalid-input', issues: [], output: { type: 'error-text', value: '' } }, true],
    ['a denial', { status: 'denied', reason: 'No.', output: { type: 'execution-denied' } }, false],
    [
      'a command that ran and said no',
      { ...failing, error: failure('Exit code: 1', { code: 'command-failed' }) },
      false,
    ],
    [
      'a stored result',
      { status: 'stored', artifact: { id: 'a', size: 1 }, output: { type: 'text', value: '' } },
      false,
    ],
  ])('takes %s for what it is', async (_, outcome, isException) => {
    expect(await run(worker(3), { maxExceptions: 0 }, { tools: tools([outcome]) })).toMatchObject({
      outcome: isException ? 'budget-exceeded' : 'completed',
    });
  });

  it('leaves the decision to the caller', async () => {
    const isException = ({ call: { name } }: { call: { name: string } }): boolean => name === 'ls';
    expect(await run(worker(3), { maxExceptions: 0, isException })).toMatchObject({
      outcome: 'budget-exceeded',
      steps: 1,
    });
  });

  it('warns with the last that is allowed', async () => {
    const { of } = await run(worker(4), { maxExceptions: 1 }, { tools: tools([failing]) });
    expect(of('budget.near')).toMatchObject([{ limit: 'maxExceptions', used: 1, left: 0, max: 1 }]);
  });
});

describe('a limit on sizes', () => {
  it('refuses input that is too long, and gives it back', async () => {
    const { outcome, reason, of, transcript } = await run(['Hi'], { maxInputChars: 5 }, { input: 'Too long' });
    expect({ outcome, reason, transcript }).toEqual({
      outcome: 'budget-exceeded',
      reason: 'The turn has taken in 8 of the 5 characters that it may take in.',
      transcript: [],
    });
    expect(of('turn.end')[0]?.undelivered).toEqual([user('Too long')]);
    expect(await run(['Hi'], { maxInputChars: 8 }, { input: 'Just fit' })).toMatchObject({ outcome: 'completed' });
  });

  it.each([
    ['text', '123456'],
    ['bytes', new Uint8Array(6)],
    ['buffer', new ArrayBuffer(6)],
    ['address', new URL('x:3456')],
    ['tagged text', { type: 'text', text: '123456' }],
    ['tagged bytes', { type: 'data', data: new Uint8Array(6) }],
  ] as const)('counts a file by the length of its %s', async (_, data) => {
    const file = { role: 'user', content: [{ type: 'file', data, mediaType: 'text/plain' }] } as const;
    const { reason } = await run(['Hi'], { maxInputChars: 5 }, { input: file });
    expect(reason).toBe('The turn has taken in 6 of the 5 characters that it may take in.');
  });

  it('ends an answer that is too long in the middle', async () => {
    const { outcome, reason, model } = await run([{ never: ['12345', '67890', 'x'] }], { maxOutputChars: 10 });
    expect({ outcome, reason, abandoned: model.abandoned }).toEqual({
      outcome: 'budget-exceeded',
      reason: 'The turn has written 11 of the 10 characters that it may write.',
      abandoned: 1,
    });
  });

  it('counts what was written before', async () => {
    expect(
      await run([response('1234567', call('1', 'ls')), 'Four'], { maxOutputChars: 12, wrapUp: false }),
    ).toMatchObject({ outcome: 'budget-exceeded' });
  });
});

describe('several limits', () => {
  it('end the turn at the first that is used up, whatever they are', async () => {
    const options = fc.record(
      { maxSteps: fc.nat(6), maxToolCalls: fc.nat(6), maxTokens: fc.nat(2000) },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(options, fc.boolean(), async (limits, sumsUp) => {
        const tools = scriptedTools({ ls: 'a.txt' });
        const { outcome, steps, usage } = await run(
          endless(eager),
          { maxSteps: 20, ...limits, ...(!sumsUp && { wrapUp: false }) },
          { tools },
        );
        expect(['max-steps', 'budget-exceeded', 'completed']).toContain(outcome);
        expect(steps).toBeLessThanOrEqual(limits.maxSteps ?? 20);
        expect(tools.ran.length).toBeLessThanOrEqual(limits.maxToolCalls ?? 20);
        if (limits.maxTokens !== undefined) expect(usage.input).toBeLessThanOrEqual(limits.maxTokens);
      }),
      { numRuns: 40 },
    );
  });
});
