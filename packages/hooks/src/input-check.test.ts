import { describe, expect, it } from 'vitest';
import { inputCheck } from './input-check.js';

const rejectionOf = async (value: unknown): Promise<string | undefined> => {
  const { offered, check } = inputCheck();
  const inputSchema = {
    type: 'object',
    properties: { path: { pattern: '^/safe/' }, from: { format: 'email' } },
    patternProperties: { '^x-': { type: 'string' } },
    additionalProperties: false,
  };
  offered([{ name: 'read', description: '', inputSchema }]);
  return check('read', value);
};

describe('inputCheck', () => {
  it('checks patterns, formats and names', async () => {
    expect(await rejectionOf({ path: '/safe/a', from: 'a@b.example', 'x-a': 'b' })).toBeUndefined();
    expect(await rejectionOf({ path: '/etc/passwd' })).toMatch(/^path: /);
    expect(await rejectionOf({ from: 'a' })).toMatch(/^from: /);
    expect(await rejectionOf({ 'x-a': 1 })).toMatch(/^x-a: /);
    expect(await rejectionOf({ y: 1 })).toContain('"y" is not allowed');
  });
});
