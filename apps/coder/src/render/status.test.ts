import { describe, expect, it } from 'vitest';
import { noActivity } from '../activity.js';
import { paletteFor } from './palette.js';
import { childRow, statusRow } from './status.js';

const palette = paletteFor({ isTerminal: false, environment: {} });
const row = (now: number, columns = 80, label = 'Running bash npm test'): string =>
  statusRow({ ...noActivity, label, since: 1_000 }, now, { palette, columns });

describe('statusRow', () => {
  it('shows the activity and its duration', () => {
    expect(row(4_240)).toBe('⠹ Running bash npm test · 3.2 s · Ctrl-C cancels');
  });

  it('advances the spinner with time', () => {
    expect(new Set(Array.from({ length: 10 }, (_, index) => row(1_000 + index * 100).charAt(0))).size).toBe(10);
  });

  it('says what Ctrl-C does while the turn is cancelled', () => {
    expect(row(4_240, 80, 'Cancelling')).toBe('⠹ Cancelling · 3.2 s · Ctrl-C exits');
  });

  it('fits the width of the terminal', () => {
    expect(row(1_000, 40, 'x'.repeat(90))).toHaveLength(40);
  });

  it('shows no negative duration when clocks disagree', () => {
    expect(row(500)).toContain('· 0.0 s ·');
  });
});

describe('childRow', () => {
  it('shows the activity of a sub-agent on one row', () => {
    const paper = { palette, columns: 40 };
    const activity = { label: 'Running grep a very long pattern that has no room', since: 0, open: new Map() };
    expect(childRow('explore', activity, 3100, paper)).toBe('⎇ explore: Running grep a very … · 3.1 s');
    expect(childRow('explore', { ...activity, label: 'Thinking' }, 0, paper)).toBe('⎇ explore: Thinking · 0.0 s');
  });
});
