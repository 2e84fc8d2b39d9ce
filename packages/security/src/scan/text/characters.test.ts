import { expect, it } from 'vitest';
import { isInvisible, mayHaveInvisible } from './characters.js';

it('matches every invisible character', () => {
  const missed: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    if (isInvisible(code) && !mayHaveInvisible.test(String.fromCodePoint(code))) missed.push(code.toString(16));
  }
  expect(missed).toEqual([]);
});
