import type { JSONObject } from '@h/turn';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { defineTool, isToolOutput, toolOutput, type ToolOptions } from './define-tool.js';
import { ToolConfigurationError } from './errors.js';
import { withJsonSchema, type ToolInput } from './input-schema.js';

const base = {
  name: 'look',
  description: 'Looks.',
  input: z.object({ path: z.string() }),
  effect: 'read-only',
  run: () => 'seen',
} as const;

describe('defineTool', () => {
  it('tells the model the name, the description, the JSON Schema, the effect and whether a repeat is safe', () => {
    expect(defineTool({ ...base, idempotent: true }).definition).toEqual({
      name: 'look',
      description: 'Looks.',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
      effect: 'read-only',
      idempotent: true,
    });
  });

  it('takes a JSON Schema as it is', () => {
    const input = { type: 'object', properties: { id: { type: 'integer' } } };
    const tool = defineTool({
      ...base,
      input,
      run: (value) => (expectTypeOf(value).toEqualTypeOf<JSONObject>(), 'seen'),
    });
    expect(tool.definition.inputSchema).toEqual(input);
  });

  it('infers what run gets from the schema', () => {
    defineTool({
      ...base,
      input: z.object({ path: z.string(), limit: z.number().default(10) }),
      resources: ({ path }) => [`file:${path}`],
      run: (input) => (expectTypeOf(input).toEqualTypeOf<{ path: string; limit: number }>(), 'seen'),
    });
  });

  it('takes a schema that cannot write itself together with its JSON Schema', () => {
    const mute = { '~standard': { version: 1 as const, vendor: 'mute', validate: (value: unknown) => ({ value }) } };
    expect(() => defineTool({ ...base, input: mute })).toThrow(
      /mute schema of the tool "look" cannot write itself as JSON Schema/,
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
  ])('refuses a wrong %s and names it', (option, change) => {
    const define = () => defineTool({ ...base, ...change } as unknown as ToolOptions<ToolInput>);
    expect(define).toThrow(ToolConfigurationError);
    expect(define).toThrow(expect.objectContaining({ code: 'tool-configuration', option }));
  });
});

describe('toolOutput', () => {
  it('is told apart from a JSON result of the same shape', () => {
    expect(isToolOutput(toolOutput({ output: 'done', details: { bytes: 3 } }))).toBe(true);
    expect(isToolOutput({ output: 'done' })).toBe(false);
    expect(isToolOutput(null)).toBe(false);
  });
});
