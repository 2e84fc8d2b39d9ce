import { describe, expect, it } from 'vitest';
import { play, rounds, type Batch } from '../test/play.js';
import { callSurroundings, loops, outcomeSurroundings, progressing, type Surrounding } from '../test/surroundings.js';

const surroundings = Object.entries({ ...outcomeSurroundings, ...callSurroundings });

const surrounded = (batches: readonly Batch[], change: Surrounding): readonly Batch[] =>
  batches.map((batch, index) => batch.map((move) => change(move, index + 1)));

/** Returns the runs that are stopped with a surrounding. */
const stopped = (runs: typeof loops, count: number, change: Surrounding): readonly string[] =>
  Object.entries(runs).flatMap(([name, make]) => {
    const alarms = play(surrounded(rounds(count, make), change));
    return alarms.some(({ level }) => level === 'block' || level === 'break') ? [name] : [];
  });

describe.each(surroundings)('with %s around calls', (_, change) => {
  it('stops each loop', () => {
    expect(stopped(loops, 45, change)).toEqual(Object.keys(loops));
  });

  it('stops no run that makes progress', () => {
    expect(stopped(progressing, 40, change)).toEqual([]);
  });
});
