import type { ToolStatus } from '@h/turn';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { streakAfter } from './streak.js';

describe('streakAfter', () => {
  it.each<[ToolStatus, number]>([
    ['failed', 3],
    ['timed-out', 3],
    ['invalid-input', 3],
    ['unknown-tool', 3],
    ['ok', 0],
    ['stored', 0],
    ['denied', 2],
    ['skipped', 2],
    ['cancelled', 2],
    ['interrupted', 2],
  ])('returns for a streak of 2 and a call that is %s: %i', (status, streak) => {
    expect(streakAfter(2, status)).toBe(streak);
  });

  it('counts the failures since the last success', () => {
    const statuses = fc.array(fc.constantFrom<ToolStatus>('ok', 'failed', 'denied', 'timed-out', 'stored', 'skipped'));
    fc.assert(
      fc.property(statuses, (all) => {
        const since = all.slice(all.findLastIndex((status) => status === 'ok' || status === 'stored') + 1);
        const failed = since.filter((status) => status === 'failed' || status === 'timed-out');
        expect(all.reduce(streakAfter, 0)).toBe(failed.length);
      }),
    );
  });
});
