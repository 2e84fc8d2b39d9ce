import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cacheHitRate, cleanUsage, costAt, priceTable, type TokenUsage } from './index.js';

const used = (input: number, output: number, cacheRead = 0, cacheWrite = 0, reasoning = 0): TokenUsage => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning,
});
const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constant(undefined));

describe('cleanUsage', () => {
  it('returns finite counts whose parts never exceed the whole', () => {
    fc.assert(
      fc.property(
        fc.record({
          input: anyNumber,
          output: anyNumber,
          cacheRead: anyNumber,
          cacheWrite: anyNumber,
          reasoning: anyNumber,
        }),
        (given) => {
          const usage = cleanUsage(given as Partial<TokenUsage>);
          for (const value of Object.values(usage)) expect(Number.isFinite(value) && value >= 0).toBe(true);
          expect(usage.cacheRead + usage.cacheWrite).toBeLessThanOrEqual(usage.input);
          expect(usage.reasoning).toBeLessThanOrEqual(usage.output);
          expect(cleanUsage(usage)).toEqual(usage);
        },
      ),
    );
  });

  it('returns zeros for a missing usage', () => {
    expect([cleanUsage(undefined), cacheHitRate(used(0, 5))]).toEqual([used(0, 0), undefined]);
  });
});

describe('priceTable', () => {
  const costOf = priceTable({
    'openai/gpt-5': { input: 1, output: 10, cacheRead: 0.1 },
    'claude-*': { input: 3, output: 15 },
    'claude-haiku-*': { input: 1, output: 5 },
    'ollama/*': { input: 0, output: 0 },
  });

  it('charges cached input once, at its own price', () => {
    expect(costOf(used(1000, 100, 900), 'openai/gpt-5')).toBeCloseTo((100 + 90 + 1000) / 1e6, 12);
  });

  it.each([
    ['anthropic/claude-opus-4', 18],
    ['claude-haiku-4-5', 6],
    ['openai/gpt-5', 11],
    ['ollama/llama3', 0],
    ['gpt-5', undefined],
    ['toString', undefined],
    [undefined, undefined],
  ])('prices %s', (model, dollars) => {
    expect(costOf(used(1e6, 1e6), model)).toBe(dollars);
  });

  it.each([
    [{ a: { in: 1, output: 1 } }, 'unknown option "table.a.in"'],
    [{ a: { input: 1 } }, '"table.a.output" is required'],
    [{ a: { input: '1', output: 1 } }, '"table.a.input" must be a number from 0; received "1"'],
    [{ a: { input: -1, output: 1 } }, '"table.a.input" must be a number from 0; received -1'],
    [{ a: 3 }, '"table.a" must be an object with the keys input, output, cacheRead, cacheWrite; received 3'],
  ])('rejects the prices %j, which would make costs unknown', (table, message) => {
    expect(() => priceTable(table as never)).toThrow(`priceTable(): ${message}`);
  });

  it('rejects a name with an asterisk before its end, which would match no model', () => {
    const price = { input: 1, output: 1 };
    expect(() => priceTable({ 'openai/*-mini': price })).toThrow(/at most one asterisk, at its end/);
  });

  it('uses the fallback for unknown models', () => {
    expect(priceTable({}, () => 7)(used(1, 1), 'x')).toBe(7);
  });

  it('is never negative and grows with the usage', () => {
    fc.assert(
      fc.property(fc.nat(1e6), fc.nat(1e6), fc.nat(1e6), (input, output, cacheRead) => {
        const price = { input: 3, output: 15, cacheRead: 0.3 };
        const cost = costAt(price, used(input, output, cacheRead));
        expect(cost).toBeGreaterThanOrEqual(0);
        expect(costAt(price, used(input + 1e6, output, cacheRead))).toBeGreaterThanOrEqual(cost);
      }),
    );
  });
});
