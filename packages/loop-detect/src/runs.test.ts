import { describe, expect, it } from 'vitest';
import { healthyRuns } from '../test/healthy-runs.js';
import { firstOf, play } from '../test/play.js';
import { sickRuns } from '../test/sick-runs.js';

describe('healthy runs', () => {
  it.each(Object.entries(healthyRuns))('raises no alarm for %s', (_, batches) => {
    expect(play(batches)).toEqual([]);
  });
});

describe('sick runs', () => {
  it.each(Object.entries(sickRuns))('catches %s', (_, { batches, warned, blocked, broken }) => {
    const alarms = play(batches);
    expect({
      warned: firstOf(alarms, 'warn'),
      blocked: firstOf(alarms, 'block'),
      broken: firstOf(alarms, 'break'),
    }).toEqual({ warned, blocked, broken });
  });
});
