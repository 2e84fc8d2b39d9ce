import { describe, expect, it } from 'vitest';
import { noActivity } from '../activity.js';
import { paletteFor } from './palette.js';
import { statusRow } from './status.js';

const palette = paletteFor({ isTerminal: false, environment: {} });
const row = (now: number, columns = 80, label = 'Running bash npm test'): string =>
  statusRow({ ...noActivity, label, since: 1_000 }, now, { palette, columns });

describe('statusRow', () => {
  it('says what the turn is busy with and for how long', () => {
    expect(row(4_240)).toBe('⠹ Running bash npm test · 3.2 s · Ctrl-C cancels');
  });

  it('turns its spinner with the time', () => {
    expect(new Set(Array.from({ length: 10 }, (_, index) => row(1_000 + index * 100).charAt(0))).size).toBe(10);
  });

  it('fits into the terminal', () => {
    expect(row(1_000, 40, 'x'.repeat(90))).toHaveLength(40);
  });

  it('does not count below zero when clocks disagree', () => {
    expect(row(500)).toContain('· 0.0 s ·');
  });
});
