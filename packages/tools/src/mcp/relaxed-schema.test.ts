import { describe, expect, it } from 'vitest';
import { relaxed } from './relaxed-schema.js';

describe('relaxed', () => {
  it('removes regular expressions at every depth', () => {
    const schema = {
      type: 'object',
      properties: { id: { type: 'string', pattern: '^(a+)+$' }, mail: { type: 'string', format: 'email' } },
      anyOf: [{ properties: { list: { type: 'array', items: { pattern: 'x' } } } }],
      additionalProperties: { pattern: 'y' },
    };
    expect(relaxed(schema)).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, mail: { type: 'string' } },
      anyOf: [{ properties: { list: { type: 'array', items: {} } } }],
      additionalProperties: {},
    });
  });

  it('keeps properties and values that only resemble a pattern', () => {
    const schema = {
      type: 'object',
      properties: { pattern: { type: 'string' }, format: { enum: [{ pattern: 'x' }], default: { format: 'y' } } },
      required: ['pattern'],
    };
    expect(relaxed(schema)).toEqual(schema);
  });

  it('allows members that a pattern names', () => {
    expect(
      relaxed({ type: 'object', patternProperties: { '^(a+)+$': { type: 'string' } }, additionalProperties: false }),
    ).toEqual({
      type: 'object',
      additionalProperties: true,
    });
  });
});
