import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdits, editsAt, elementRanges, visitJson, type JsonPath } from './json-edit.js';

const at = (value: unknown, path: JsonPath): unknown =>
  path.reduce<unknown>((node, key) => (node as Record<string | number, unknown>)[key], value);

const documents = fc
  .tuple(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 1, '\t', ' \r\n'))
  .map(([value, space]) => ({ value, text: JSON.stringify(value, null, space) }));

describe('visitJson', () => {
  it('visits each value once, at its path and range', () => {
    fc.assert(
      fc.property(documents, ({ text }) => {
        const parsed: unknown = JSON.parse(text);
        const seen: string[] = [];
        visitJson(text, (path, { start, end }) => {
          seen.push(JSON.stringify(path));
          expect(JSON.parse(text.slice(start, end))).toEqual(at(parsed, path));
        });
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.at(-1)).toBe('[]');
      }),
    );
  });

  it('takes linear time for deep nesting and long runs of escapes', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const escapes = JSON.stringify('\\"'.repeat(200_000));
    let visited = 0;
    visitJson(`{"deep":${deep},"escapes":${escapes}}`, () => {
      visited += 1;
    });
    expect(visited).toBe(100_002);
  });
});

describe('editsAt', () => {
  it('changes nothing outside the edited value', () => {
    fc.assert(
      fc.property(documents, fc.nat(), fc.string(), ({ text }, choice, replacement) => {
        const paths: JsonPath[] = [];
        visitJson(text, (path) => paths.push([...path]));
        const path = paths[choice % paths.length] ?? [];
        const [edit, ...others] = editsAt(text, [{ path, value: replacement }]);
        expect(others).toEqual([]);
        const edited = applyEdits(text, edit ? [edit] : []);
        expect(edited.slice(0, edit?.start)).toBe(text.slice(0, edit?.start));
        expect(edited.endsWith(text.slice(edit?.end))).toBe(true);
        expect(at(JSON.parse(edited), path)).toBe(replacement);
      }),
    );
  });

  it('preserves numbers that a double cannot represent', () => {
    const text = '{"id": 12345678901234567890, "model":"a", "t":1.0}';
    const edits = editsAt(text, [{ path: ['model'], value: 'b' }]);
    expect(applyEdits(text, edits)).toBe('{"id": 12345678901234567890, "model":"b", "t":1.0}');
  });
});

describe('elementRanges', () => {
  it('returns the elements of the last member with that name', () => {
    const text = '{"a":[1],"messages":[9],"messages":[ {"x":[1,2]} , "b" ]}';
    expect(elementRanges(text, 'messages').map(({ start, end }) => text.slice(start, end))).toEqual([
      '{"x":[1,2]}',
      '"b"',
    ]);
  });
});
