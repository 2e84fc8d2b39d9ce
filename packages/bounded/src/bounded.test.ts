import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutText, LruMap } from './index.js';

describe('LruMap', () => {
  it('behaves like a list that is ordered by use and truncated', () => {
    const step = fc.record({
      action: fc.constantFrom('get', 'set', 'delete', 'has'),
      key: fc.nat(6),
      value: fc.nat(),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step), (maxEntries, steps) => {
        const map = new LruMap<number, number>(maxEntries);
        let model: (readonly [number, number])[] = [];
        for (const { action, key, value } of steps) {
          const known = model.find(([other]) => other === key);
          const others = model.filter(([other]) => other !== key);
          if (action === 'get') {
            expect(map.get(key)).toBe(known?.[1]);
            if (known !== undefined) model = [...others, known];
          } else if (action === 'has') {
            expect(map.has(key)).toBe(known !== undefined);
          } else if (action === 'delete') {
            expect(map.delete(key)).toBe(known !== undefined);
            model = others;
          } else {
            map.set(key, value);
            model = [...others, [key, value] as const].slice(-maxEntries);
          }
          expect([...map.entries()]).toEqual(model);
          expect(map.size).toBe(model.length);
        }
      }),
    );
  });

  it('removes all entries when it is cleared', () => {
    const map = new LruMap<string, number>(2);
    map.set('a', 1);
    map.clear();
    expect([map.size, map.get('a')]).toEqual([0, undefined]);
  });

  it.each([0, -1, 1.5, Number.NaN, Infinity, '3'])('rejects %j entries', (maxEntries) => {
    expect(() => new LruMap(maxEntries as number)).toThrow('LruMap: "maxEntries" must be');
  });
});

describe('cutText', () => {
  it('keeps a prefix within the limit and never splits a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: -2, max: 40 }), (text, maxChars) => {
        const cut = cutText(text, maxChars);
        if (text.length <= maxChars) {
          expect(cut).toBe(text);
          return;
        }
        expect(cut.endsWith('…')).toBe(true);
        expect(cut.length).toBeLessThanOrEqual(Math.max(0, maxChars) + 1);
        expect(text.startsWith(cut.slice(0, -1))).toBe(true);
        expect(cut.isWellFormed()).toBe(text.isWellFormed());
      }),
    );
  });
});
