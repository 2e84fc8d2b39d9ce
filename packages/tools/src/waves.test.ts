import type { ToolEffect } from '@h/turn';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isConflicting, planWaves, type PlannedCall } from './waves.js';

interface Named extends PlannedCall {
  readonly name: string;
}

const read = (name: string, resources: readonly string[] | undefined = [`file:/${name}`]): Named => ({
  name,
  effect: 'read-only',
  resources,
});
const write = (name: string, effect: ToolEffect = 'local-write'): Named => ({
  name,
  effect,
  resources: [`file:/${name}`],
});
const plan = (...calls: Named[]): string =>
  planWaves(calls)
    .map((wave) => wave.map(({ name }) => name).join('+'))
    .join(' ');

describe('planWaves', () => {
  it.each([
    ['runs reads together', plan(read('a'), read('b'), read('a')), 'a+b+a'],
    ['runs a write alone', plan(read('a'), read('b'), write('w'), read('c'), read('d')), 'a+b w c+d'],
    ['runs writes one after the other', plan(write('v'), write('w')), 'v w'],
    ['runs a network call alone', plan(read('a'), write('n', 'network'), read('b')), 'a n b'],
    ['runs a destructive call alone', plan(write('n', 'destructive'), read('b')), 'n b'],
    [
      'runs a read with unknown resources alone',
      plan(read('a'), { name: 'x', effect: 'read-only' }, read('b')),
      'a x b',
    ],
    ['runs a call with an unknown effect alone', plan(read('a'), { name: 'x', resources: [] }, read('b')), 'a x b'],
    ['plans nothing for no calls', plan(), ''],
  ])('%s', (_, planned, expected) => {
    expect(planned).toBe(expected);
  });

  it('keeps every call once and in order, and groups only reads with known resources', () => {
    const anyCall = fc.record({
      effect: fc.constantFrom('read-only', 'local-write', 'network', 'destructive', undefined),
      resources: fc.option(fc.array(fc.constantFrom('a', 'b')), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(anyCall), (calls) => {
        const waves = planWaves(calls);
        expect(waves.flat()).toEqual(calls);
        expect(waves.flat().every((call, index) => call === calls[index])).toBe(true);
        for (const wave of waves) {
          expect(wave.length).toBeGreaterThan(0);
          if (wave.length > 1) {
            expect(wave.every(({ effect, resources }) => effect === 'read-only' && resources !== undefined)).toBe(true);
          }
        }
      }),
    );
  });
});

describe('isConflicting', () => {
  it.each([
    [['file:/a'], ['file:/a'], true],
    [['file:/a'], ['file:/a/b'], true],
    [['file:/a/b'], ['file:/a'], true],
    [['file:/'], ['file:/a'], true],
    [['file:/a'], ['file:/ab'], false],
    [['file:/a', 'db:x'], ['db:x'], true],
    [undefined, ['file:/a'], true],
    [undefined, undefined, true],
    [undefined, [], false],
    [[], ['file:/a'], false],
  ])('compares %j and %j: %s', (left, right, expected) => {
    expect(isConflicting(left, right)).toBe(expected);
    expect(isConflicting(right, left)).toBe(expected);
  });
});
