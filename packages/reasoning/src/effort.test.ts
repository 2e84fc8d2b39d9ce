import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseEffort, fitEffort, reasoningEfforts, type EffortFacts } from './effort.js';

const calm: EffortFacts = {
  trigger: 'user',
  step: 2,
  failures: 0,
  isLooping: false,
  budgetLeft: 1,
  timeLeftMs: Infinity,
  isSpent: false,
  isHeld: false,
};
const rank = (effort: (typeof reasoningEfforts)[number]): number => reasoningEfforts.indexOf(effort);
const anEffort = fc.constantFrom(...reasoningEfforts);
const anyFacts: fc.Arbitrary<EffortFacts> = fc.record(
  {
    trigger: fc.constantFrom('user', 'manual', 'cron', 'heartbeat', 'memory', 'subagent', 'toString', '__proto__', ''),
    step: fc.integer({ min: 1, max: 99 }),
    asked: fc.option(anEffort, { nil: undefined }),
    failures: fc.nat(9),
    isLooping: fc.boolean(),
    budgetLeft: fc.double({ min: 0, max: 1, noNaN: true }),
    timeLeftMs: fc.oneof(fc.constant(Infinity), fc.nat(600_000)),
    isSpent: fc.boolean(),
    isHeld: fc.boolean(),
    held: fc.option(anEffort, { nil: undefined }),
  },
  { requiredKeys: ['trigger', 'step', 'failures', 'isLooping', 'budgetLeft', 'timeLeftMs', 'isSpent', 'isHeld'] },
);

describe('chooseEffort', () => {
  it.each<[string, Partial<EffortFacts>, string]>([
    ['plans with more effort', { step: 1 }, 'high'],
    ['follows tools with the usual effort', {}, 'medium'],
    ['does not plan with more where the effort is held', { step: 1, isHeld: true }, 'medium'],
    ['does not plan with more for a schedule', { step: 1, trigger: 'cron' }, 'medium'],
    ['spends less on a heartbeat', { step: 1, trigger: 'heartbeat' }, 'low'],
    ['treats an unknown trigger as usual', { trigger: 'webhook' }, 'medium'],
    ['ignores a first failure', { failures: 1 }, 'medium'],
    ['raises after two failures', { failures: 2 }, 'high'],
    ['raises after a loop warning', { isLooping: true }, 'high'],
    ['raises by one level only', { step: 1, failures: 5, isLooping: true }, 'high'],
    ['follows the words of the user', { asked: 'max', step: 1 }, 'max'],
    ['lowers with little budget left', { budgetLeft: 0.2, step: 1 }, 'low'],
    ['lowers close to the deadline', { timeLeftMs: 30_000, step: 1 }, 'low'],
    ['switches off when the allowance is spent', { isSpent: true, asked: 'max' }, 'none'],
    ['keeps a held effort', { held: 'high', isHeld: true }, 'high'],
    ['keeps a held effort after failures', { held: 'low', failures: 4, isHeld: true }, 'low'],
    ['lowers a held effort with little budget left', { held: 'high', budgetLeft: 0.1, isHeld: true }, 'low'],
    ['never switches a held effort off', { held: 'high', isSpent: true, isHeld: true }, 'minimal'],
    ['never switches a held effort on', { held: 'none', step: 1, asked: 'max', isHeld: true }, 'none'],
  ])('%s', (_, facts, effort) => {
    expect(chooseEffort({ ...calm, ...facts })).toBe(effort);
  });

  it('never exceeds a held effort or toggles reasoning within a turn', () => {
    fc.assert(
      fc.property(anyFacts, anEffort, (facts, held) => {
        const chosen = chooseEffort({ ...facts, held });
        expect(rank(chosen)).toBeLessThanOrEqual(rank(held));
        expect(chosen === 'none').toBe(held === 'none');
      }),
    );
  });

  it('does not rise as the budget, the time or the allowance run out', () => {
    fc.assert(
      fc.property(anyFacts, fc.double({ min: 0, max: 1, noNaN: true }), (facts, part) => {
        const before = rank(chooseEffort(facts));
        expect(rank(chooseEffort({ ...facts, budgetLeft: facts.budgetLeft * part }))).toBeLessThanOrEqual(before);
        expect(rank(chooseEffort({ ...facts, timeLeftMs: 1_000 * part }))).toBeLessThanOrEqual(before);
        expect(rank(chooseEffort({ ...facts, isSpent: true }))).toBeLessThanOrEqual(before);
      }),
    );
  });

  it('does not fall after failures or a warning', () => {
    fc.assert(
      fc.property(anyFacts, fc.nat(9), (facts, failures) => {
        const before = rank(chooseEffort(facts));
        expect(rank(chooseEffort({ ...facts, failures: facts.failures + failures }))).toBeGreaterThanOrEqual(before);
        expect(rank(chooseEffort({ ...facts, isLooping: true }))).toBeGreaterThanOrEqual(before);
      }),
    );
  });
});

describe('fitEffort', () => {
  it('returns an accepted effort, the nearest that is not higher if there is one', () => {
    const accepted = fc.subarray([...reasoningEfforts], { minLength: 1 });
    fc.assert(
      fc.property(anEffort, accepted, (effort, efforts) => {
        const notHigher = efforts.filter((one) => rank(one) <= rank(effort));
        expect(fitEffort(effort, efforts)).toBe(notHigher.at(-1) ?? efforts[0]);
      }),
    );
  });

  it('returns nothing if no effort may be set', () => {
    expect(fitEffort('high', [])).toBeUndefined();
  });
});
