import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { healthy, loops, nearLoops, type Families } from '../test/generated-runs.js';
import { play } from '../test/play.js';

const numRuns = 60;

/** Returns the share of runs that are stopped and the share with any alarm. */
const rates = (run: Families[string]): { readonly stopped: number; readonly warned: number } => {
  const alarms = fc.sample(run, { numRuns, seed: 1 }).map((batches) => play(batches));
  const share = (isMet: (levels: readonly string[]) => boolean): number =>
    alarms.filter((list) => isMet(list.map(({ level }) => level))).length / numRuns;
  return {
    stopped: share((levels) => levels.includes('block') || levels.includes('break')),
    warned: share((levels) => levels.length > 0),
  };
};

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('generated loops that never repeat exactly', () => {
  const measured = Object.entries(loops).map(([name, run]) => ({ name, ...rates(run) }));

  it.each(measured)('stops $name', ({ stopped }) => {
    expect(stopped).toBeGreaterThanOrEqual(0.9);
  });

  it('stops at least 98 % of all', () => {
    expect(average(measured.map(({ stopped }) => stopped))).toBeGreaterThanOrEqual(0.98);
  });
});

describe('generated runs that make progress', () => {
  const measured = Object.entries(healthy).map(([name, run]) => ({ name, ...rates(run) }));

  it.each(measured)('never stops $name', ({ stopped, warned }) => {
    expect(stopped).toBe(0);
    expect(warned).toBeLessThanOrEqual(0.05);
  });

  it('warns about at most 1 % of all', () => {
    expect(average(measured.map(({ warned }) => warned))).toBeLessThanOrEqual(0.01);
  });
});

describe('generated runs of which a part repeats itself', () => {
  it.each(Object.entries(nearLoops))('warns about %s', (_, run) => {
    expect(rates(run).warned).toBe(1);
  });
});
