import { describe, expect, it } from 'vitest';
import { consentTo } from './inputs.js';

describe('consentTo', () => {
  it.each([
    [{}, {}],
    [{ properties: { note: { type: 'string' } } }, {}],
    [{ properties: { ok: { type: 'boolean' } }, required: ['ok'] }, { ok: true }],
    [{ properties: { size: { type: 'string', default: 'S' } }, required: ['size'] }, { size: 'S' }],
    [{ properties: { to: { const: 'all' } }, required: ['to'] }, { to: 'all' }],
    [{ properties: { to: { enum: ['all'] } }, required: ['to'] }, { to: 'all' }],
    [{ properties: { to: { enum: ['all', 'none'] } }, required: ['to'] }, undefined],
    [{ properties: { name: { type: 'string' } }, required: ['name'] }, undefined],
    [{ properties: {}, required: ['__proto__'] }, undefined],
    [{ required: ['toString'] }, undefined],
  ])('answers %j with %j', (schema, content) => {
    expect(consentTo(schema)).toEqual(content);
  });
});
