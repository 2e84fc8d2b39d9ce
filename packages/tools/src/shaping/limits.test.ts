import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limitsFor, stepBudget, weightOf } from './limits.js';

describe('limitsFor', () => {
  it.each([
    [undefined, 16_000, 64_000],
    [8_000, 9_600, 16_000],
    [32_000, 16_000, 64_000],
    [99_999, 16_000, 64_000],
    [100_000, 32_000, 128_000],
    [200_000, 64_000, 256_000],
    [1_000_000, 64_000, 256_000],
    [1, 1, 2],
  ])(
    'returns for a window of %s tokens: %i characters per result, %i per step',
    (contextWindow, maxChars, maxStepChars) => {
      expect(limitsFor(contextWindow)).toMatchObject({ maxChars, maxStepChars });
    },
  );

  it('applies explicit limits within the share of the window', () => {
    expect(limitsFor(undefined, { maxChars: 100, maxStepChars: 150 })).toMatchObject({
      maxChars: 100,
      maxStepChars: 150,
    });
    expect(limitsFor(10_000, { maxChars: 50_000 })).toMatchObject({ maxChars: 12_000, maxStepChars: 20_000 });
  });
});

describe('weightOf', () => {
  it('weights dense scripts by their tokens', () => {
    expect(weightOf('plain words')).toBe(1);
    expect(weightOf('')).toBe(1);
    expect(weightOf('日本語'.repeat(10_000))).toBe(4);
    expect(weightOf(`${'日'.repeat(50)}${'a'.repeat(50)}`)).toBe(2.5);
  });
});

describe('stepBudget', () => {
  it('is never exceeded, and reserves a share for every call', () => {
    const wishes = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.nat(5_000), wishes, (total, sizes) => {
        const budget = stepBudget(total, sizes.length);
        const share = Math.floor(total / sizes.length);
        let spent = 0;
        for (const size of sizes) {
          const allowance = budget.allowance();
          expect(allowance).toBeGreaterThanOrEqual(share);
          budget.spend(Math.min(size, allowance));
          spent += Math.min(size, allowance);
        }
        expect(spent).toBeLessThanOrEqual(total);
      }),
    );
  });

  it('gives unused characters of a call to the later ones', () => {
    const budget = stepBudget(100, 2);
    expect(budget.allowance()).toBe(50);
    budget.spend(10);
    expect(budget.allowance()).toBe(90);
  });

  it('reserves nothing for unannounced calls', () => {
    const budget = stepBudget(100, 1);
    budget.spend(100);
    expect(budget.allowance()).toBe(0);
  });
});
