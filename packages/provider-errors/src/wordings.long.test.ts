import { expect, it } from 'vitest';
import { wordings } from '../test/wordings.js';
import { classifyError } from './classify-error.js';

it('takes linear time for every word that a rule looks for', () => {
  const words = new Set(Object.values(wordings).flatMap((list) => list.flatMap((message) => message.split(/\s+/))));
  const work = (count: number): number => {
    const start = process.cpuUsage();
    for (const word of words) classifyError({ message: `${word} `.repeat(count) }, { now: 0 });
    return process.cpuUsage(start).user;
  };
  work(20);
  // The text is 16 times as long: quadratic work would take 256 times as long.
  expect(work(1_600) / Math.max(2_000, work(100))).toBeLessThan(100);
});
