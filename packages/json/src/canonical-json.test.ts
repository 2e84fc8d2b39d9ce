import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, hashJson } from './index.js';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));
const reversed = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  const copy: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [key, item] of Object.entries(value).toReversed()) copy[key] = reversed(item);
  return copy;
};

describe('canonicalJson', () => {
  it('parses back to the value, so that different values give different strings', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value) ?? '')).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
        expect(hashJson(reversed(value))).toBe(hashJson(value));
      }),
    );
  });

  it('leaves out members that are undefined', () => {
    expect(canonicalJson({ b: undefined, a: 1 })).toBe('{"a":1}');
  });

  it.each([
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['Infinity', Infinity],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['bytes', new Uint8Array(2)],
    ['undefined in an array', [undefined]],
    ['202 levels', nested(202)],
    ['5,000 levels', nested(5000)],
  ])('has no canonical form for %s', (_, value) => {
    expect([canonicalJson(value), hashJson(value)]).toEqual([undefined, undefined]);
  });

  it('ends for a circular value', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    expect(canonicalJson(circular)).toBeUndefined();
  });

  it('writes 200 levels', () => {
    expect(canonicalJson(nested(200))).toBe('['.repeat(200) + ']'.repeat(200));
  });
});

describe('hashJson', () => {
  it('is the SHA-256 of the canonical JSON', () => {
    expect(hashJson({})).toBe('44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a');
  });
});
