import type { JSONObject } from '@h/turn';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { inputChecker, type ToolInput } from './input-schema.js';
import type { InputCheck } from './json-schema.js';
import { jsonSchemaValidator } from './json-schema.js';

const check = (input: ToolInput, value: unknown): InputCheck => inputChecker('look', input).check(value) as InputCheck;
const object = (properties: JSONObject, rest: JSONObject = {}): JSONObject => ({ type: 'object', properties, ...rest });
const valueOf = (result: InputCheck): unknown => (result.ok ? JSON.parse(JSON.stringify(result.value)) : result.issues);

const zodPath = z.object({ path: z.string(), tags: z.array(z.object({ name: z.string() })).optional() });
const jsonPath = object(
  { path: { type: 'string' }, tags: { type: 'array', items: object({ name: { type: 'string' } }) } },
  { required: ['path'], additionalProperties: false },
);

describe.each([
  ['zod', zodPath],
  ['JSON Schema', jsonPath],
])('an input described by %s', (_, schema) => {
  it('loses members that are not in the schema, at every depth', () => {
    expect(valueOf(check(schema, { path: '/a', context: 1, tags: [{ name: 'x', ctx: 2 }] }))).toEqual({
      path: '/a',
      tags: [{ name: 'x' }],
    });
  });

  it('has no prototypes, and no __proto__', () => {
    const result = check(
      schema,
      JSON.parse('{"path":"/a","__proto__":{"polluted":true},"tags":[{"name":"x","__proto__":{}}]}'),
    );
    const { value } = result as { value: { tags: object[] } };
    expect(Object.getPrototypeOf(value)).toBeNull();
    expect(Object.getPrototypeOf(value.tags[0])).toBeNull();
    expect('__proto__' in value || 'polluted' in value || 'constructor' in value).toBe(false);
  });

  it('is not coerced', () => {
    expect(check(schema, { path: 5 })).toEqual({ ok: false, issues: [expect.stringMatching(/^path: /)] });
    expect(check(schema, '{"path":"/a"}').ok).toBe(false);
    expect(check(schema, null).ok).toBe(false);
    expect(check(schema, {})).toEqual({ ok: false, issues: [expect.stringContaining('path')] });
  });

  it('is rejected when nested deeper than 200 levels', () => {
    const deep: unknown = JSON.parse(`${'{"path":'.repeat(5_000)}0${'}'.repeat(5_000)}`);
    expect(check(schema, deep)).toEqual({ ok: false, issues: [expect.any(String)] });
  });

  it('is a copy', () => {
    const input = { path: '/a', tags: [{ name: 'x' }] };
    const { value } = check(schema, input) as { value: { tags: { name: string }[] } };
    (value.tags[0] as { name: string }).name = 'y';
    expect(input.tags[0]?.name).toBe('x');
  });
});

describe('a zod input', () => {
  it('gets the defaults and transforms of its schema', () => {
    const schema = z.object({ limit: z.number().default(10), when: z.string().transform((text) => new Date(text)) });
    expect(check(schema, { when: '2026-01-01' })).toEqual({
      ok: true,
      value: { limit: 10, when: new Date('2026-01-01') },
    });
  });

  it('keeps the keys of a record without access to inherited members', () => {
    const schema = z.object({ env: z.record(z.string(), z.string()) });
    const { value } = check(schema, JSON.parse('{"env":{"constructor":"x","toString":"y","__proto__":"z"}}')) as {
      value: { env: object };
    };
    expect(Object.entries(value.env)).toEqual([
      ['constructor', 'x'],
      ['toString', 'y'],
    ]);
  });

  it('may be checked asynchronously', async () => {
    const schema = z.object({ id: z.string().refine(async (id) => id !== 'bad', 'is bad') });
    await expect(inputChecker('look', schema).check({ id: 'good', more: 1 })).resolves.toEqual({
      ok: true,
      value: { id: 'good' },
    });
    await expect(inputChecker('look', schema).check({ id: 'bad' })).resolves.toEqual({
      ok: false,
      issues: ['id: is bad'],
    });
  });
});

describe('a JSON Schema input', () => {
  it.each([
    ['that are allowed', object({ a: {} }, { additionalProperties: true }), { a: 1, b: 2 }],
    ['that have a schema', object({ a: {} }, { additionalProperties: { type: 'number' } }), { a: 1, b: 2 }],
    ['that match a pattern', object({ a: {} }, { patternProperties: { '^b': {} } }), { a: 1, b: 2 }],
    ['of an object without described properties', object({ a: { type: 'object' } }), { a: { b: 2 } }],
    ['that another part of the schema names', object({ a: {} }, { allOf: [object({ b: {} })] }), { a: 1, b: 2 }],
    [
      'that a reference names',
      object({ a: {} }, { $ref: '#/$defs/b', $defs: { b: object({ b: {} }) } }),
      { a: 1, b: 2 },
    ],
    [
      'that a dynamic reference may name',
      object({ a: { $ref: '#thing' } }, { $defs: { thing: object({ b: {} }, { $anchor: 'thing' }) } }),
      { a: { b: 1 } },
    ],
    [
      'that one of several alternatives names',
      object({}, { anyOf: [object({ a: {} }), object({ b: {} })] }),
      { a: 1, b: 2 },
    ],
  ])('keeps the members %s', (_, schema, value) => {
    expect(valueOf(check(schema, value))).toEqual(value);
  });

  it('keeps members that a dependent schema of draft 7 names', () => {
    const schema = object({ a: {} }, { dependencies: { a: object({ b: {} }) } });
    expect(valueOf(check(schema, { a: 1, b: 2, c: 3 }))).toEqual({ a: 1, b: 2 });
  });

  it.each([{ type: 'strng' }, { pattern: '(' }, { $ref: '#/$defs/none' }, { required: 'a' }])(
    'is rejected when a part of it is invalid: %j',
    (part) => {
      expect(() => inputChecker('look', object({ a: part }))).toThrow(
        /^defineTool\("look"\): "input" must be a valid JSON Schema: \/properties\/a: /,
      );
    },
  );

  it('accepts an expression that is invalid only in Unicode mode', () => {
    const { check } = inputChecker('call', object({ phone: { pattern: String.raw`^\d{3}\-\d{4}$` } }));
    expect(check({ phone: '555-1234' })).toMatchObject({ ok: true });
    expect(check({ phone: '5551234' })).toMatchObject({ ok: false });
  });

  it('removes other members if the list of patterns is empty', () => {
    const { check } = inputChecker('look', object({ a: {} }, { patternProperties: {} }));
    expect(check({ a: 1, b: 2 })).toEqual({ ok: true, value: { a: 1 } });
  });

  it('takes polynomial time for a tree of a recursive union', () => {
    const children = { type: 'array', items: { $ref: '#/$defs/node' } };
    const oneOf = Array.from({ length: 20 }, (_, index) => object({ children, kind: { const: index } }));
    const schema = object({ root: { $ref: '#/$defs/node' } }, { $defs: { node: { oneOf, required: ['kind'] } } });
    const tree = (depth: number): unknown =>
      depth === 0 ? { kind: 0 } : { kind: depth, children: [tree(depth - 1), tree(depth - 1)] };
    expect(check(schema, { root: tree(6) })).toMatchObject({ ok: true });
  });

  it('follows circular references', () => {
    const schema = object({ next: { $ref: '#' }, id: { type: 'string' } });
    expect(valueOf(check(schema, { id: 'a', x: 1, next: { id: 'b', x: 2 } }))).toEqual({ id: 'a', next: { id: 'b' } });
  });

  it('takes linear time for a schema that refers to itself', () => {
    const branches = Array.from({ length: 4 }, () => object({ next: { $ref: '#' } }));
    const deep: unknown = JSON.parse(`${'{"next":'.repeat(100)}{"x":1}${'}'.repeat(100)}`);
    const stripped = jsonSchemaValidator({ ...object({}), allOf: branches });
    expect(stripped({ next: { x: 1, next: {} } })).toMatchObject({ ok: true, value: { next: { next: {} } } });
    expect(() =>
      jsonSchemaValidator({ $defs: { a: { anyOf: branches } }, type: 'object', properties: { next: { $ref: '#' } } })(
        deep,
      ),
    ).not.toThrow();
  });

  it('is checked by the rules of its draft', () => {
    const tuple = (extra: JSONObject): JSONObject => ({
      ...object({ pair: { items: [{ type: 'string' }, { type: 'number' }] } }),
      ...extra,
    });
    expect(check(tuple({ $schema: 'http://json-schema.org/draft-07/schema#' }), { pair: ['a', 'b'] }).ok).toBe(false);
    expect(check(tuple({ $schema: 'http://json-schema.org/draft-07/schema#' }), { pair: ['a', 1] }).ok).toBe(true);
  });

  it('gets no defaults from the schema', () => {
    expect(valueOf(check(object({ limit: { type: 'number', default: 10 } }), {}))).toEqual({});
  });

  it('is not modified', () => {
    const schema = object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { type: 'string' } } });
    const before = JSON.stringify(schema);
    check(schema, { a: 'x' });
    expect(JSON.stringify(schema)).toBe(before);
  });

  it('keeps every member except __proto__ if the schema describes none', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (value) => {
        const text = JSON.stringify(value);
        const expected: unknown = JSON.parse(text, (key, member: unknown) =>
          key === '__proto__' ? undefined : member,
        );
        expect(valueOf(check({ type: 'object' }, JSON.parse(text)))).toEqual(expected);
      }),
    );
  });
});
