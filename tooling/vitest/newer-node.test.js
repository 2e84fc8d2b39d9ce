import { describe, expect, it } from 'vitest';
import { isAtLeast } from './newer-node.js';

describe('isAtLeast', () => {
  it.each([
    ['22.13.0', '22.13', true],
    ['22.12.9', '22.13', false],
    ['24.0.0', '22.13', true],
    ['20.19.5', '22.0', false],
    ['22.0.0', '22.0', true],
    ['100.1.0', '22.13', true],
  ])('compares %s with %s: %s', (version, minimum, expected) => {
    expect(isAtLeast(version, minimum)).toBe(expected);
  });
});
