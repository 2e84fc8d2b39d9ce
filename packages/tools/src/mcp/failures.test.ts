import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { messageOf } from './failures.js';

const invalidResult = (value: unknown): SdkError => {
  const schema = z.object({
    content: z.array(z.union([z.object({ text: z.string() }), z.object({ data: z.string() })])),
  });
  const { error } = schema.safeParse(value);
  return new SdkError(SdkErrorCode.InvalidResult, `Invalid result for tools/call: ${error?.message}`);
};

describe('messageOf()', () => {
  it('names the first parts of a result that are invalid, and no more', () => {
    expect(messageOf(invalidResult({ content: Array.from({ length: 1000 }, () => 5) }))).toBe(
      'Invalid result for tools/call: content.0: Invalid input; content.1: Invalid input; content.2: Invalid input; and 997 more',
    );
    expect(messageOf(invalidResult({ content: 5 }))).toBe(
      'Invalid result for tools/call: content: Invalid input: expected array, received number',
    );
  });

  it('leaves other messages unchanged', () => {
    for (const message of ['Invalid result for tools/call: not an object', 'Unexpected: [5', 'Unexpected: [5]']) {
      expect(messageOf(new SdkError(SdkErrorCode.InvalidResult, message))).toBe(message);
      expect(messageOf(new Error(message))).toBe(message);
    }
  });
});
