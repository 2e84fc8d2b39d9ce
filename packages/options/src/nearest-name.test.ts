import { describe, expect, it } from 'vitest';
import { nearestName } from './index.js';

describe('nearestName', () => {
  const names = ['maxSteps', 'maxCost', 'mcp__files__read', 'limit'];

  it.each<[string, string | undefined]>([
    ['maxSteps', 'maxSteps'],
    ['max_steps', 'maxSteps'],
    ['maxstep', 'maxSteps'],
    ['mxaSteps', 'maxSteps'],
    ['maxCots', 'maxCost'],
    ['read', 'mcp__files__read'],
    ['steps', 'maxSteps'],
    ['teps', undefined],
    ['limt', 'limit'],
    ['colour', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('makes of %j %j', (name, nearest) => {
    expect(nearestName(name, names)).toBe(nearest);
  });

  it('returns undefined for an empty name or no candidates', () => {
    expect(nearestName('a', [])).toBeUndefined();
  });
});
