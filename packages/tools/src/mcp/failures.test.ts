import { SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
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

  it('does the same for errors of a schema library itself', () => {
    const { error } = z.strictObject({ id: z.number() }).safeParse({ id: 'a', error: null });
    expect(messageOf(error)).toBe(
      'Invalid message: id: Invalid input: expected number, received string; Unrecognized key: "error"',
    );
  });

  it('names the status of a failed response, and the beginning of its body', () => {
    const failed = (status: number, body: string, statusText?: string): SdkHttpError =>
      new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, `Error POSTing to endpoint: ${body}`, {
        status,
        ...(statusText !== undefined && { statusText }),
      });
    expect(messageOf(failed(401, '', 'Unauthorized'))).toBe('The server answered with HTTP 401 Unauthorized');
    expect(messageOf(failed(429, 'slow down'))).toBe('The server answered with HTTP 429: slow down');
    expect(messageOf(failed(500, 'x'.repeat(100_000))).length).toBeLessThan(1_000);
  });

  it('leaves other messages unchanged', () => {
    for (const message of ['Invalid result for tools/call: not an object', 'Unexpected: [5', 'Unexpected: [5]']) {
      expect(messageOf(new SdkError(SdkErrorCode.InvalidResult, message))).toBe(message);
      expect(messageOf(new Error(message))).toBe(message);
    }
  });
});
