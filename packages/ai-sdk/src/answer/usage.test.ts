import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUsage } from './usage.js';

const usage = (input: (number | undefined)[], output: (number | undefined)[]) =>
  ({
    inputTokens: { total: input[0], noCache: input[1], cacheRead: input[2], cacheWrite: input[3] },
    outputTokens: { total: output[0], text: output[1], reasoning: output[2] },
  }) as Parameters<typeof toUsage>[0];

describe('toUsage', () => {
  it.each([
    [
      'all numbers',
      usage([350, 10, 300, 40], [25, 10, 15]),
      { input: 350, cacheRead: 300, cacheWrite: 40, output: 25, reasoning: 15 },
    ],
    ['no numbers', usage([], []), { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }],
    ['none at all', undefined, { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }],
    [
      'NaN, infinity, fractions and negative numbers',
      usage([Number.NaN, -1, 5], [Infinity, 3, 0.5]),
      { input: 5, cacheRead: 5, cacheWrite: 0, output: 3, reasoning: 0 },
    ],
    [
      'a total that leaves cached tokens out',
      usage([100, undefined, 900], [20]),
      { input: 1_000, cacheRead: 900, cacheWrite: 0, output: 20, reasoning: 0 },
    ],
    [
      'a total that leaves reasoning out',
      usage([10], [20, undefined, 80]),
      { input: 10, cacheRead: 0, cacheWrite: 0, output: 100, reasoning: 80 },
    ],
    [
      'parts without a total',
      usage([undefined, 5, 7], [undefined, 2, 3]),
      { input: 12, cacheRead: 7, cacheWrite: 0, output: 5, reasoning: 3 },
    ],
  ])('counts %s', (_, given, expected) => {
    expect(toUsage(given)).toEqual(expected);
  });

  it('limits parts to their total and ignores invalid counts', () => {
    const any = fc.option(fc.oneof(fc.nat(), fc.maxSafeInteger(), fc.double()), { nil: undefined });
    fc.assert(
      fc.property(fc.tuple(any, any, any, any), fc.tuple(any, any, any), (input, output) => {
        const counted = toUsage(usage(input, output));
        expect(Object.values(counted).every((tokens) => Number.isFinite(tokens) && tokens >= 0)).toBe(true);
        expect(counted.input).toBeGreaterThanOrEqual(counted.cacheRead + counted.cacheWrite);
        expect(counted.output).toBeGreaterThanOrEqual(counted.reasoning);
      }),
    );
  });
});
