import { guardrails } from '@h/guardrails';
import { harness, reply } from '@h/turn';
import { response, scriptedModel } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../arguments.js';
import { budgetFor, shareLeft } from './budget.js';

const costOf = () => 1;

/** Runs turns of a model under the budget of a command line. */
const outcomes = async (words: readonly string[], turns: number) => {
  const given = parseArguments(words);
  if ('text' in given) throw new Error(given.text);
  const usage = { input: 900, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  const script = Array.from({ length: turns }, () => ({ ...response('Done.'), usage }));
  const agent = harness({ model: scriptedModel(script) }).pipe(guardrails(budgetFor(given, { costOf })));
  const found: string[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const { outcome } = await reply(agent.turn({ session: `s${turn}`, input: 'Go' }));
    found.push(outcome);
  }
  return found;
};

describe('the budget of a run', () => {
  it.each([
    ['--max-cost', '2'],
    ['--max-tokens', '1000'],
  ])('ends turns of any session after %s %s', async (name, limit) => {
    expect((await outcomes(['--plan', name, limit], 4)).at(-1)).toBe('budget-exceeded');
    expect((await outcomes([name, limit], 4)).at(-1)).toBe('budget-exceeded');
  });

  it('limits cost, tokens and time of plans by default', () => {
    expect(budgetFor({ plan: false }, { costOf })).toEqual({});
    const { budget } = budgetFor({ plan: true }, { costOf });
    if (budget === undefined || typeof budget === 'function') throw new Error('A plan has no budget.');
    expect(budget.limits().map(({ limit, max }) => [limit, max])).toEqual(
      expect.arrayContaining([
        ['maxCost', 20],
        ['maxTokens', 50_000_000],
        ['maxDurationMs', 28_800_000],
      ]),
    );
  });

  it('reports the share of the scarcest limit that is left', () => {
    expect(shareLeft(undefined)).toBe(1);
    const limits = budgetFor({ plan: false, maxCost: 10, maxTokens: 1000 }, { costOf });
    expect(shareLeft(limits)).toBe(1);
    if (limits.budget === undefined || typeof limits.budget === 'function') throw new Error('The run has no budget.');
    limits.budget.spend({ inputTokens: 900 });
    expect(shareLeft(limits)).toBeCloseTo(0.1);
  });

  it.each(['--max-cost', '--max-tokens', '--max-minutes'])('rejects a value of %s that is not a number', (name) => {
    expect(() => parseArguments([name, 'much'])).toThrow(name);
  });
});
