import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createRedactor } from './create-redactor.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** The least of three collections: code that is compiled meanwhile and the end of a job change what one collection leaves. */
const usedMb = async (): Promise<number> => {
  const measured: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    await setImmediate();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    measured.push((heapUsed + external) / 1e6);
  }
  return Math.min(...measured);
};

/** A megabyte with a name of its number: names differ in length, and in their first and middle letters. */
const textWith = (number: number): string => {
  const letter = (place: number): string => String.fromCharCode(65 + (place % 26));
  const name = `${letter(number)}${'Q'.repeat(5 + (number % 9))}${letter(number * 7)}_LONGER_NAME_TOKEN`;
  return `${'The quick brown fox jumps. '.repeat(40_000)}${number} ${name}=x`;
};

it('retains no text after it is redacted', async () => {
  const { redact } = createRedactor();
  for (let number = 0; number < 20; number += 1) redact(textWith(number));
  const before = await usedMb();
  for (let number = 20; number < 140; number += 1) redact(textWith(number));
  expect((await usedMb()) - before).toBeLessThan(40);
});
