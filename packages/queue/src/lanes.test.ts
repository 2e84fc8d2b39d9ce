import { describe, expect, it } from 'vitest';
import { createLanes } from './lanes.js';

describe('createLanes', () => {
  it('runs the tasks of a session one after the other, in their order', async () => {
    const lanes = createLanes({ concurrency: 4 });
    const seen: string[] = [];
    const task = (name: string) => async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      return name;
    };
    const all = await Promise.all(['a', 'b', 'c'].map((name) => lanes.run('alice', task(name))));
    expect(all).toEqual(['a', 'b', 'c']);
    expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
    expect(lanes.snapshot().sessions).toEqual([]);
  });
});
