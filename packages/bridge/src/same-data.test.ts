import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSameData } from './same-data.js';

const data = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(undefined, null, true, 0, -0, Number.NaN, 1, '', 'a', '\uD83D'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('value'), { noNullPrototype: true }),
  ),
})).value;

it('agrees with isDeepStrictEqual about plain data', () => {
  fc.assert(
    fc.property(data, data, (one, other) => {
      expect(isSameData(one, other)).toBe(isDeepStrictEqual(one, other));
      expect(isSameData(one, structuredClone(one))).toBe(true);
    }),
  );
});

it('does not compare equal instances of classes', () => {
  class Text {
    readonly #text: string;
    constructor(text: string) {
      this.#text = text;
    }
    get text(): string {
      return this.#text;
    }
  }
  const text = new Text('a');
  expect(isSameData({ text }, { text })).toBe(true);
  expect(isSameData({ text }, { text: new Text('b') })).toBe(false);
  expect(isSameData(new Uint8Array([1]), new Uint8Array([2]))).toBe(false);
});

it('ends for circular values', () => {
  const circular = (): object => {
    const value: Record<string, unknown> = {};
    value['self'] = value;
    return value;
  };
  expect(isSameData(circular(), circular())).toBe(false);
});
