import { expect, it } from 'vitest';
import { atMost } from './concurrency.js';

it('runs N tasks at a time, in order, and continues after a failure', async () => {
  const limit = atMost(2);
  const events: string[] = [];
  let active = 0;
  const task = (name: string) => () => {
    active += 1;
    events.push(`${name}:${active}`);
    return new Promise<string>((resolve, reject) => {
      queueMicrotask(() => {
        active -= 1;
        if (name === 'b') reject(new Error('No.'));
        else resolve(name);
      });
    });
  };
  const results = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => limit(task(name))));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  expect(events.map((event) => event[0])).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(Math.max(...events.map((event) => Number(event.slice(2))))).toBe(2);
});
