import { noTotals, type UsageTotals } from '@h/observe';
import type { TurnEvents } from '@h/turn';
import { event, failure } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { noTally, type Tally } from '../tally.js';
import { paletteFor } from './palette.js';
import { summaryLines } from './summary.js';

const palette = paletteFor({ isTerminal: false, environment: {} });
const usage = { input: 12_345, cacheRead: 1_200, cacheWrite: 0, output: 678, reasoning: 0 };

const summary = (end: Partial<TurnEvents['turn.end']>, tally: Partial<Tally> = {}): readonly string[] =>
  summaryLines(
    {
      ...noTally,
      startedAt: 1_000,
      end: event('turn.end', { outcome: 'completed', steps: 6, usage, ...end }, { at: 3_100 }),
      ...tally,
    },
    { palette },
  );

describe('summaryLines', () => {
  it('shows outcome, usage and changed files', () => {
    const files = new Map([
      ['src/a.js', { additions: 3, deletions: 1 }],
      ['b.md', { additions: 10, deletions: 0 }],
      ['built.js', { change: 'added' }],
    ]);
    expect(summary({}, { toolCalls: 7, troubled: 1, files })).toEqual([
      '✓ completed',
      '  6 steps · 7 tool calls (1 not ok) · tokens: 12,345 in, 1,200 cached (10 %), 678 out · 2.1 s',
      '  files changed: src/a.js (+3 −1), b.md (+10 −0), built.js (added)',
    ]);
  });

  it('shows reasoning tokens and the effort', () => {
    const lineOf = (effort: 'high' | undefined, tokens: number): string | undefined =>
      summary(
        {},
        { reasoning: event('reasoning.used', { effort, tokens, outputTokens: 678, share: tokens / 678 }) },
      )[1];
    expect(lineOf('high', 400)).toContain('678 out, 400 of them reasoning (high) ·');
    expect(lineOf(undefined, 400)).toContain('678 out, 400 of them reasoning ·');
    expect(lineOf('high', 0)).toContain('678 out, reasoning (high) ·');
    expect(lineOf(undefined, 0)).toContain('678 out · 2.1 s');
  });

  it('shows the known cost, switches and delays', () => {
    const end = event('turn.end', { outcome: 'completed', steps: 1, usage: { ...usage, cacheRead: 0 } }, { at: 3_100 });
    const lineOf = (totals: Partial<UsageTotals>, tally: Partial<Tally> = {}): string | undefined =>
      summaryLines({ ...noTally, startedAt: 1_000, end, ...tally }, { palette }, () => ({
        ...noTotals,
        calls: 1,
        usage,
        ...totals,
      }))[1];
    expect(lineOf({ cost: 0.0421, knownCost: 0.0421 })).toBe(
      '  1 step · 0 tool calls · tokens: 12,345 in, 0 cached, 678 out · $0.0421 · 2.1 s',
    );
    expect(lineOf({ cost: 12.3, knownCost: 12.3 }, { switches: 2, waitedMs: 61_000 })).toContain(
      '· $12.30 · 2.1 s · 2 switches · 1 min 1 s waiting for retries',
    );
    expect(lineOf({ cost: undefined, knownCost: 0.5 })).toContain('· at least $0.5000 ·');
    expect(lineOf({ cost: undefined, knownCost: 0 })).toContain('· cost unknown ·');
    expect(lineOf({ calls: 0 })).not.toContain('$');
  });

  it('shows no exact cost if a call was cancelled or reported no usage', () => {
    const costs = (outcome: 'completed' | 'cancelled' | 'error', totals: Partial<UsageTotals>): string | undefined =>
      summaryLines(
        { ...noTally, startedAt: 1_000, end: event('turn.end', { outcome, steps: 1, usage }, { at: 3_100 }) },
        { palette },
        () => ({ ...noTotals, calls: 1, failedCalls: 1, ...totals }),
      )[1];
    expect(costs('cancelled', {})).toContain('· cost unknown ·');
    expect(costs('error', {})).toContain('· cost unknown ·');
    expect(costs('cancelled', { usage, cost: 0.5, knownCost: 0.5 })).toContain('· at least $0.5000 ·');
    expect(costs('completed', { usage, cost: 0, knownCost: 0 })).toContain('· $0.0000 ·');
  });

  it('shows the reason of any other outcome', () => {
    expect(summary({ outcome: 'max-steps', reason: 'The turn has made 6 of the 6 steps that it may make.' })[0]).toBe(
      '■ max-steps · The turn has made 6 of the 6 steps that it may make.',
    );
  });

  it('shows the message of an error on one line', () => {
    expect(summary({ outcome: 'error', reason: 'The model failed.', error: failure('connect\nECONNREFUSED') })[0]).toBe(
      '■ error · connect ECONNREFUSED',
    );
  });

  it('reports that no files changed', () => {
    expect(summary({}).at(-1)).toBe('  files changed: none');
  });

  it('lists at most ten files', () => {
    const files = new Map(Array.from({ length: 12 }, (_, index) => [`f${index}`, { additions: 1, deletions: 0 }]));
    expect(summary({}, { files }).at(-1)).toMatch(/^ {2}files changed: f0 \(\+1 −0\), .*f9 \(\+1 −0\), 2 more files$/);
  });

  it('returns nothing before the end', () => {
    expect(summaryLines(noTally, { palette })).toEqual([]);
  });
});
