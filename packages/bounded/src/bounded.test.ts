import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { characterStart, cutMiddle, cutText, jsonDepth, LruMap } from './index.js';

/** Every cut of such a string falls into a surrogate pair or beside one. */
const withPairs = (maxLength: number) => fc.string({ unit: fc.constantFrom('a', '\u{1F600}'), maxLength, size: 'max' });

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
  it('keeps as many characters as the limit allows', () => {
    expect(['abcd', 'abc', 'a\u{1F600}b'].map((text) => cutText(text, 3))).toEqual(['abc…', 'abc', 'a\u{1F600}…']);
  });

  it('keeps a prefix within the limit and never splits a character', () => {
    fc.assert(
      fc.property(withPairs(30), fc.integer({ min: -2, max: 40 }), (text, maxChars) => {
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

describe('cutMiddle', () => {
  it('keeps the beginning and the end, and counts the rest', () => {
    const text = `begin ${'x'.repeat(1000)} end`;
    expect(cutMiddle(text, 100)).toMatch(/^begin x+\n\[… 9\d\d characters left out …\]\nx+ end$/);
    expect(cutMiddle(text, text.length)).toBe(text);
  });

  it('never exceeds its limit, splits no character, and counts what it left out', () => {
    fc.assert(
      fc.property(withPairs(300), fc.integer({ min: -2, max: 120 }), (text, maxChars) => {
        const cut = cutMiddle(text, maxChars);
        expect(cut.length).toBeLessThanOrEqual(Math.max(maxChars, 0));
        expect(cut.isWellFormed()).toBe(text.isWellFormed());
        const [note, count] = /\n\[… (\d+) characters left out …\]\n/.exec(cut) ?? [];
        if (note !== undefined && !text.includes('left out')) {
          expect(cut.length - note.length + Number(count)).toBe(text.length);
        }
      }),
    );
  });
});

describe('characterStart', () => {
  it('moves an index only if it is inside a surrogate pair', () => {
    const text = 'a\u{1F600}b\ud83d';
    expect([0, 1, 2, 3, 4, 5].map((index) => characterStart(text, index))).toEqual([0, 1, 1, 3, 4, 5]);
  });
});

describe('jsonDepth', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

  it('is the depth of the parsed value, whatever its strings contain', () => {
    const string = fc.string({ unit: fc.constantFrom('"', '\\', '[', '}', 'a'), maxLength: 6 });
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4, key: string, values: [string, fc.integer()] }), (value) => {
        const json = JSON.stringify(value) ?? 'null';
        expect(jsonDepth(json)).toBe(depthOf(JSON.parse(json)));
      }),
    );
  });

  it('takes linear time for deep values and long runs of escapes', () => {
    expect(jsonDepth('[{"a":'.repeat(500_000))).toBe(1_000_000);
    expect(jsonDepth(JSON.stringify(['\\"'.repeat(1_000_000)]))).toBe(1);
  });
});
