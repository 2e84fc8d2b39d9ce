import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plainJSON } from './plain-json.js';

it('converts JSON to itself', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.stringify(plainJSON(value))).toBe(JSON.stringify(value));
    }),
  );
});

it('converts any value', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withTypedArray: true }), (value) => {
      expect(JSON.stringify(plainJSON(value))).toBeTypeOf('string');
    }),
  );
});

it('marks references to objects around them only', () => {
  const shared = { name: 'shared' };
  const cyclic: Record<string, unknown> = { first: shared, second: shared, list: [shared] };
  cyclic['self'] = cyclic;
  cyclic['deep'] = { up: [cyclic] };
  expect(plainJSON(cyclic)).toEqual({
    first: shared,
    second: shared,
    list: [shared],
    self: '[Circular]',
    deep: { up: ['[Circular]'] },
  });
});

it.each([
  [undefined, null],
  [10n, '10'],
  [{ count: 10n }, { count: '10' }],
  [Symbol('s'), null],
  [new Date(0), '1970-01-01T00:00:00.000Z'],
  [
    {
      toJSON: () => {
        throw new Error('No.');
      },
    },
    '[object]',
  ],
])('converts %o', (value, json) => {
  expect(plainJSON(value)).toEqual(json);
});
