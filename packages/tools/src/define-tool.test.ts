import type { JSONObject } from '@h/turn';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import * as z3 from 'zod/v3';
import { defineTool, isToolOutput, toolOutput, type ToolOptions } from './define-tool.js';
import { InvalidOptionError } from '@h/options';
import { withJsonSchema, type ToolInput } from './input-schema.js';

const base = {
  name: 'look',
  description: 'Looks.',
  input: z.object({ path: z.string() }),
  effect: 'read-only',
  run: () => 'seen',
} as const;

describe('defineTool', () => {
  it('defines name, description, JSON Schema, effect and idempotency', () => {
    expect(defineTool({ ...base, idempotent: true }).definition).toEqual({
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      effect: 'read-only',
      idempotent: true,
    });
  });

  it('accepts a JSON Schema', () => {
    const input = { type: 'object', properties: { id: { type: 'integer' } } };
    const tool = defineTool({
      ...base,
      input,
      run: (value) => (expectTypeOf(value).toEqualTypeOf<JSONObject>(), 'seen'),
    });
    expect(tool.definition.inputSchema).toEqual(input);
  });

  it('infers the input of run from the schema', () => {
    defineTool({
      ...base,
      input: z.object({ path: z.string(), limit: z.number().default(10) }),
      resources: ({ path }) => [`file:${path}`],
      run: (input) => (expectTypeOf(input).toEqualTypeOf<{ path: string; limit: number }>(), 'seen'),
    });
  });

  it('accepts a schema that has no JSON Schema with withJsonSchema()', () => {
    const mute = { '~standard': { version: 1 as const, vendor: 'mute', validate: (value: unknown) => ({ value }) } };
    expect(() => defineTool({ ...base, input: mute })).toThrow(
      /defineTool\("look"\): "input" is a mute schema that cannot be converted to JSON Schema/,
    );
    expect(() => defineTool({ ...base, input: z.object({ day: z.date() }) })).toThrow(
      /^defineTool\("look"\): "input" cannot be converted to JSON Schema: Date .*, or pass withJsonSchema\(/,
    );
    const input = withJsonSchema(mute, { type: 'object' });
    expect(defineTool({ ...base, input }).definition.inputSchema).toEqual({ type: 'object' });
  });

  it.each([
    ['name', { name: 'no spaces' }],
    ['name', { name: 'x'.repeat(65) }],
    ['description', { description: undefined }],
    ['effect', { effect: 'harmless' }],
    ['timeoutMs', { timeoutMs: 0 }],
    ['timeoutMs', { timeoutMs: Number.NaN }],
    ['run', { run: 'ls' }],
    ['input', { input: { type: 'string' } }],
    ['input', { input: z.union([z.object({}), z.object({})]) }],
    ['input', { input: null }],
    ['timeout', { timeout: 5 }],
    ['paths', { paths: ['path'] }],
    ['paths.root', { paths: { root: 'src' } }],
    ['paths.write', { paths: { write: 'path' } }],
  ])('rejects a wrong %s and names it', (option, change) => {
    const define = () => defineTool({ ...base, ...change } as unknown as ToolOptions<ToolInput>);
    expect(define).toThrow(InvalidOptionError);
    expect(define).toThrow(expect.objectContaining({ code: 'invalid-option', option }));
  });
});

describe('defineTool explains', () => {
  const schemaOfZod3 = z3.object({ path: z3.string() });
  const schemaOfOldZod = { _def: schemaOfZod3._def, parse: (value: unknown) => value };
  it.each([
    ['a zod 3 schema', { input: schemaOfZod3 }, /"input" is a zod schema .* use zod 4.2 or later/],
    ['a schema of zod before 3.24', { input: schemaOfOldZod }, /"input" is a schema of zod before 3.24; use zod 4.2/],
    ['a schema of the AI SDK', { input: { jsonSchema: {}, validate: () => ({}) } }, /pass its "jsonSchema"/],
    [
      'an object with a function',
      { input: { type: 'object', check: () => true } },
      /received an object that is not JSON/,
    ],
    ['inputSchema', { inputSchema: z.object({}) }, /unknown option "inputSchema"; it is called "input" here/],
    ['execute', { execute: () => 1 }, /unknown option "execute"; it is called "run" here/],
  ])('%s', (_name, change, message) => {
    const define = () => defineTool({ ...base, ...change } as unknown as ToolOptions<ToolInput>);
    expect(define).toThrow(InvalidOptionError);
    expect(define).toThrow(message);
  });

  it('rejects missing options', () => {
    expect(() => defineTool(undefined as never)).toThrow(
      'defineTool(): options must be an object; received undefined.',
    );
  });
});

describe('paths of a tool', () => {
  it('are part of its definition', () => {
    const paths = { root: '/repo', read: ['path'] };
    expect(defineTool({ ...base, paths }).definition.paths).toEqual(paths);
    expect(defineTool(base).definition).not.toHaveProperty('paths');
  });
});

describe('toolOutput', () => {
  it('is distinguished from a JSON result of the same shape', () => {
    expect(isToolOutput(toolOutput({ output: 'done', details: { bytes: 3 } }))).toBe(true);
    expect(isToolOutput({ output: 'done' })).toBe(false);
    expect(isToolOutput(null)).toBe(false);
  });
});
