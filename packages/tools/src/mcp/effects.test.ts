import { describe, expect, it } from 'vitest';
import { effectOf, isIdempotent } from './effects.js';

describe('effectOf', () => {
  it.each([
    [undefined, 'destructive'],
    [{}, 'destructive'],
    [{ readOnlyHint: true, openWorldHint: false }, 'read-only'],
    [{ readOnlyHint: true }, 'network'],
    [{ readOnlyHint: true, destructiveHint: true, openWorldHint: false }, 'read-only'],
    [{ destructiveHint: false, openWorldHint: false }, 'local-write'],
    [{ destructiveHint: false }, 'network'],
    [{ readOnlyHint: false, openWorldHint: false }, 'destructive'],
  ])('maps %j to %s', (annotations, effect) => {
    expect(effectOf(annotations)).toBe(effect);
  });
});

describe('isIdempotent', () => {
  it.each([
    [undefined, false],
    [{}, false],
    [{ idempotentHint: true }, true],
    [{ readOnlyHint: true }, true],
    [{ readOnlyHint: true, idempotentHint: false }, true],
  ])('returns for %j: %s', (annotations, expected) => {
    expect(isIdempotent(annotations)).toBe(expected);
  });
});
