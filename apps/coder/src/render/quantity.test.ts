import { describe, expect, it } from 'vitest';
import { counted, duration, elapsed, grouped } from './quantity.js';

describe('duration', () => {
  it.each([
    [0, '0 ms'],
    [-3, '0 ms'],
    [12.4, '12 ms'],
    [999.4, '999 ms'],
    [999.6, '1.0 s'],
    [1_249, '1.2 s'],
    [59_949, '59.9 s'],
    [59_951, '1 min 0 s'],
    [125_000, '2 min 5 s'],
    [3_599_400, '59 min 59 s'],
    [3_600_000, '1 h 0 min'],
    [3_725_000, '1 h 2 min'],
  ])('writes %d milliseconds as %s', (milliseconds, text) => {
    expect(duration(milliseconds)).toBe(text);
  });
});

describe('elapsed', () => {
  it('shows tenths of a second below one minute', () => {
    expect([elapsed(0), elapsed(340), elapsed(59_900), elapsed(61_000)]).toEqual([
      '0.0 s',
      '0.3 s',
      '59.9 s',
      '1 min 1 s',
    ]);
  });
});

describe('grouped', () => {
  it('separates thousands', () => {
    expect([grouped(7), grouped(999), grouped(1_000), grouped(1_234_567)]).toEqual(['7', '999', '1,000', '1,234,567']);
  });
});

describe('counted', () => {
  it('uses singular and plural', () => {
    expect([counted(0, 'step'), counted(1, 'step'), counted(1_200, 'step')]).toEqual([
      '0 steps',
      '1 step',
      '1,200 steps',
    ]);
  });
});
