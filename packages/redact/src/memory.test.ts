import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createRedactor } from './create-redactor.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const usedMb = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
};

/** A megabyte with a name of its number: names differ in length, and in their first and middle letters. */
const textWith = (number: number): string => {
  const letter = (place: number): string => String.fromCharCode(65 + (place % 26));
  const name = `${letter(number)}${'Q'.repeat(5 + (number % 9))}${letter(number * 7)}_LONGER_NAME_TOKEN`;
  return `${'The quick brown fox jumps. '.repeat(40_000)}${number} ${name}=x`;
};

it('retains no text after it is redacted', () => {
  const { redact } = createRedactor();
  redact(textWith(0));
  const before = usedMb();
  for (let number = 1; number <= 60; number += 1) redact(textWith(number));
  expect(usedMb() - before).toBeLessThan(20);
});
