import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Schema } from './schema-index.js';
import { schemaValidator } from './schema-validator.js';

const isValid = (schema: Schema, value: unknown): boolean => schemaValidator(schema).check(value).length === 0;

const [draft4, draft7] = ['04', '07'].map((draft) => `http://json-schema.org/draft-${draft}/schema#`);

/** Two schemas that refer to each other; only one restricts the value. */
const cycle = { a: { allOf: [{ $ref: '#/$defs/b' }, { type: 'string' }] }, b: { $ref: '#/$defs/a' } };

describe('schemaValidator', () => {
  it.each<[schema: Schema, valid: unknown, invalid: unknown]>([
    [{ type: ['integer', 'null'] }, 2, 2.5],
    [{ type: 'number' }, 1e308, '1'],
    [{ const: { a: [1], b: 2 } }, { b: 2, a: [1] }, { a: [1] }],
    [{ enum: [null, [1]] }, [1], [2]],
    [{ not: { type: 'string' } }, 1, 'a'],
    [{ oneOf: [{ minimum: 2 }, { maximum: 4 }] }, 1, 3],
    [{ anyOf: [{ minimum: 4 }, { maximum: 2 }] }, 1, 3],
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    [{ if: { type: 'string' }, then: { minLength: 2 }, else: { minimum: 2 } }, 'ab', 1],
    [{ minLength: 1, maxLength: 1 }, '😀', 'ab'],
    [{ pattern: '^a+$' }, 'aa', 'ab'],
    [{ format: 'date' }, '2024-02-29', '2023-02-29'],
    [{ format: 'date-time' }, '2024-02-29T23:59:60Z', '2024-02-29T24:00:00Z'],
    [{ format: 'email' }, 'a+b@c.example', 'a@-c'],
    [{ format: 'uri' }, 'https://a.example/?b=c#d', '/a'],
    [{ format: 'unknown' }, '', undefined],
    [{ multipleOf: 0.01 }, 19.99, 0.015],
    [{ minimum: 1, exclusiveMaximum: 2 }, 1, 2],
    [{ $schema: draft4, minimum: 1, exclusiveMinimum: true }, 2, 1],
    [
      { uniqueItems: true },
      [1, '1', true, { a: 1 }, '{"a":1}'],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a'], ['a', 1]],
    [{ $schema: draft7, items: [{ type: 'string' }], additionalItems: { type: 'null' } }, ['a', null], ['a', 1]],
    [{ contains: { minimum: 5 }, minContains: 2, maxContains: 2 }, [1, 5, 6], [5, 6, 7]],
    [{ minItems: 1, maxItems: 2 }, [1], []],
    [{ required: ['toString'] }, { toString: 1 }, {}],
    [{ required: ['a'] }, { a: null }, { a: undefined }],
    [{ minProperties: 1, maxProperties: 1 }, { a: 1 }, { a: 1, b: 2 }],
    [{ propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }],
    [{ patternProperties: { '^a': { type: 'null' } }, additionalProperties: false }, { ab: null }, { b: null }],
    [{ dependentRequired: { a: ['b'] } }, { b: 1 }, { a: 1 }],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { b: 1 }, { a: 1 }],
    [{ $schema: draft7, dependencies: { a: ['b'], c: { maxProperties: 1 } } }, { c: 1 }, { c: 1, d: 1 }],
    [{ allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
    [{ anyOf: [{ required: ['a'], properties: { a: {} } }, {}], unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
    [{ prefixItems: [true], contains: { const: 2 }, unevaluatedItems: false }, [1, 2], [1, 2, 3]],
    [{ $ref: '#/$defs/a%25b~1c', $defs: { 'a%b/c': { type: 'null' } } }, null, 1],
    [{ $ref: '#name', $defs: { a: { $anchor: 'name', type: 'null' } } }, null, 1],
    [{ $id: 'https://a.example/b', $ref: 'c#/$defs/d', $defs: { c: { $id: 'c', $defs: { d: { const: 1 } } } } }, 1, 2],
    [{ $ref: '#/elsewhere', elsewhere: { $ref: '#/$defs/a' }, $defs: { a: { type: 'null' } } }, null, 1],
    [{ $schema: draft7, $ref: '#/definitions/a', type: 'string', definitions: { a: { type: 'null' } } }, null, 'a'],
    [{ $ref: '#/$defs/a', minimum: 2, $defs: { a: { type: 'number' } } }, 2, 1],
    [{ $ref: '#/$defs/a', $defs: { a: { allOf: [{ $ref: '#' }, { type: 'null' }] } } }, null, 1],
    [{ anyOf: [{ allOf: [{ $ref: '#/$defs/a' }] }, { $ref: '#/$defs/b' }], $defs: cycle }, 'a', 1],
    [{ anyOf: [{ allOf: [{ $ref: '#/$defs/b' }] }, { $ref: '#/$defs/a' }], $defs: cycle }, 'a', 1],
  ])('checks %j', (schema, valid, invalid) => {
    const { problems, check } = schemaValidator(schema);
    expect(problems).toEqual([]);
    expect(check(valid)).toEqual([]);
    if (invalid !== undefined) expect(check(invalid)).not.toEqual([]);
  });

  it.each<[format: string, valid: readonly string[], invalid: readonly string[]]>([
    ['time', ['10:30:00', '10:30:00.5Z', '10:30:00+0200', '10:30:00-02'], ['10:30', '24:00:00', '10:30:00+2']],
    [
      'date-time',
      ['2026-01-01T10:30:00+0200', '2026-01-01 10:30:00z', '2026-01-01T10:30:00+02:00'],
      ['2026-01-01T10:30:00', '2026-01-01', '2026-02-30T10:30:00Z'],
    ],
    [
      'duration',
      ['PT0.5S', 'P1.5D', 'P1,5W', 'P1DT2H', 'P1Y2M3DT4H5M6.7S'],
      ['P', 'PT', 'P1.5DT1H', 'P.5D', 'P1.D', 'P1H', 'P1W1D'],
    ],
    [
      'email',
      ['a.b@c.de', "o'x+y@c.de"],
      [
        'a..b@c.de',
        '.a@c.de',
        'a.@c.de',
        '@c.de',
        'a@b@c.de',
        'a b@c.de',
        'a,b@c.de',
        'ü@c.de',
        'a@c.de.',
        `${'a'.repeat(65)}@c.de`,
      ],
    ],
    ['uuid', ['urn:uuid:00000000-0000-0000-0000-000000000000'], ['urn:00000000-0000-0000-0000-000000000000']],
    ['ipv6', ['::1'], ['fe80::1%eth0', '1']],
    ['uri', ['urn:a', 'http://[::1]/a%20b?c#d'], ['http://ü', 'http://a/%zz', 'a:b#c#d', 'http:']],
    ['uri-reference', ['', '/a', '#b'], ['%zz', 'a b']],
    ['uri-template', ['/{a}/{?b*,c:3}'], ['/{', '/{}', '%zz']],
    ['url', ['https://a.example/b'], ['javascript:a', 'a']],
    ['json-pointer-uri-fragment', ['#/a~1b', '#'], ['/a', '#a']],
    ['relative-json-pointer', ['0#', '1/a', '20'], ['a', '01', '1#/a', '1a', '/a']],
    ['regex', ['^a$'], ['(', String.raw`\-`]],
  ])('checks the format %s', (format, valid, invalid) => {
    for (const text of valid) expect([text, isValid({ format }, text)]).toEqual([text, true]);
    for (const text of invalid) expect([text, isValid({ format }, text)]).toEqual([text, false]);
  });

  it('checks cyclic references in polynomial time as if each was expanded', () => {
    const count = 30;
    const names = Array.from({ length: count }, (_, index) => `s${index}`);
    const references = names.map((name) => ({ $ref: `#/$defs/${name}` }));
    for (const key of ['allOf', 'anyOf']) {
      const schemas = names.map((name, index) => [name, index === count - 1 ? false : { [key]: references }]);
      const $defs = Object.fromEntries(schemas) as Schema;
      expect(isValid({ $ref: '#/$defs/s0', $defs }, 1)).toBe(key === 'anyOf');
    }
    const inner = {
      b: { $ref: '#/$defs/c' },
      c: { allOf: [{ $ref: '#/$defs/b' }, { type: 'string' }, { $ref: '#/$defs/a' }] },
    };
    const a = { anyOf: [{ allOf: [{ $ref: '#/$defs/c' }] }, { $ref: '#/$defs/b' }] };
    expect(isValid({ $ref: '#/$defs/a', $defs: { a, ...inner } }, 1)).toBe(false);
    expect(isValid({ $ref: '#/$defs/a', $defs: { a, ...inner } }, 'a')).toBe(true);
    expect(isValid({ $ref: '#/$defs/a', $defs: { a: { not: { $ref: '#/$defs/a' } } } }, 1)).toBeTypeOf('boolean');
  });

  it('rejects a value when its check would need a round for each of many references', () => {
    const chain = Array.from({ length: 150 }, (_, index) => [
      `s${index}`,
      { allOf: [{ anyOf: [{ $ref: `#/$defs/s${index + 1}` }, true] }, index > 0 && { $ref: `#/$defs/s${index - 1}` }] },
    ]);
    const $defs = { ...(Object.fromEntries(chain) as Schema), s150: true };
    expect(isValid({ anyOf: [{ $ref: '#/$defs/s0' }, true], $defs }, 1)).toBe(false);
  });

  it('compiles an expression that is valid only without the Unicode mode', () => {
    const { problems, check } = schemaValidator({ pattern: String.raw`^\d{3}\-\d{4}$` });
    expect(problems).toEqual([]);
    expect([check('555-1234').length, check('5551234').length]).toEqual([0, 1]);
    expect(schemaValidator({ pattern: String.raw`^\p{L}+\-\d$` }).problems).toHaveLength(1);
  });

  it('ignores an identifier that would make many anchors long', () => {
    const $defs = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [index, { $anchor: `a${index}` }]));
    const { problems } = schemaValidator({ $id: `https://a.example/${'a'.repeat(300_000)}`, $defs });
    expect(problems).toEqual(['"$id" is longer than 2000 characters']);
  });

  it('reports the paths of all wrong parts', () => {
    const { check } = schemaValidator({ properties: { 'a/b': { items: { type: 'null' } }, c: false } });
    expect(check({ 'a/b': [null, 1], c: 2 }).map(({ path }) => path)).toEqual([['a/b', 1], ['c']]);
  });

  it('checks deep trees of a recursive union once per part, whatever the order of the keywords', () => {
    const children = { type: 'array', items: { $ref: '#/$defs/node' } };
    const kinds = Array.from({ length: 20 }, (_, index) => ({ const: `kind-${index}` }));
    const tree = (depth: number, leaf: unknown): unknown =>
      depth === 0 ? leaf : { kind: `kind-${depth}`, children: [tree(depth - 1, leaf), tree(depth - 1, leaf)] };
    for (const oneOf of [
      kinds.map((kind) => ({ properties: { kind, children } })),
      kinds.map((kind) => ({ properties: { children, kind } })),
    ]) {
      const { check } = schemaValidator({ $ref: '#/$defs/node', $defs: { node: { required: ['kind'], oneOf } } });
      expect(check(tree(8, { kind: 'kind-0' }))).toEqual([]);
      expect(check(tree(8, { kind: 'other' }))).toHaveLength(100);
    }
  });

  it.each<[schema: Schema, problem: string]>([
    [{ type: 'strng' }, '"type" has an invalid value, "strng"'],
    [{ properties: [] }, '"properties" has an invalid value, []'],
    [{ properties: { a: { pattern: '(' } } }, '/properties/a: "pattern" has an invalid expression, ('],
    [{ items: { $ref: '#/$defs/a' } }, '/items: "$ref" has no target, #/$defs/a'],
    [{ $ref: 'https://a.example/b' }, '"$ref" has no target, https://a.example/b'],
  ])('reports and ignores what is wrong with the schema %j', (schema, problem) => {
    const { problems, check } = schemaValidator(schema);
    expect(problems).toEqual([problem]);
    expect(check({ a: ['b'] })).toEqual([]);
  });

  it('without patterns, accepts every value that matches, and runs no expression', () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const dictionary = <Value>(values: fc.Arbitrary<Value>) => fc.dictionary(key, values, { maxKeys: 2 });
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, key, fc.integer(), fc.array(tie('value')), dictionary(tie('value'))),
    })).value;
    const schema = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 2 },
        fc.constantFrom<Schema[]>({ pattern: 'a' }, { format: 'regex' }, { type: 'object' }),
        fc.record(
          {
            pattern: fc.constantFrom('a', '^b', 'c$'),
            format: fc.constantFrom('email', 'regex'),
            patternProperties: fc.dictionary(fc.constantFrom('a|b', '^c'), tie('schema'), { maxKeys: 2 }),
            properties: dictionary(tie('schema')),
            additionalProperties: fc.boolean(),
            unevaluatedProperties: fc.boolean(),
            unevaluatedItems: fc.boolean(),
            items: tie('schema'),
            contains: tie('schema'),
            maxContains: fc.nat(2),
            propertyNames: tie('schema'),
            not: tie('schema'),
            if: tie('schema'),
            // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
            then: tie('schema'),
            else: tie('schema'),
            anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
            oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
          },
          { requiredKeys: [] },
        ),
      ),
    })).schema as fc.Arbitrary<Schema>;
    fc.assert(
      fc.property(schema, value, (schema, value) => {
        if (isValid(schema, value)) expect(schemaValidator(schema, { hasPatterns: false }).check(value)).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
    const slow = schemaValidator({ pattern: '^(a+)+$' }, { hasPatterns: false });
    expect(slow.check(`${'a'.repeat(40)}b`)).toEqual([]);
  });
});
