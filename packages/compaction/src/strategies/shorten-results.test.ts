import type { Message, ToolResultOutput } from '@h/turn';
import { user } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { createTokenCounter } from '../counting/token-counter.js';
import { shortenResults } from './shorten-results.js';

const { message: count } = createTokenCounter();
const long = 'line of a log\n'.repeat(3000);
const resultOf = (output: ToolResultOutput): Message => ({
  role: 'tool',
  content: [
    { type: 'tool-result', toolCallId: '1', toolName: 'read', output },
    { type: 'tool-approval-response', approvalId: '1', approved: true },
  ],
});

describe('shortenResults', () => {
  it('leaves what fits', () => {
    const messages = [user('Hi'), resultOf({ type: 'text', value: long })];
    expect(shortenResults(messages, 1e6, count)).toBe(messages);
  });

  it.each<readonly [ToolResultOutput, string]>([
    [{ type: 'text', value: long }, 'text'],
    [{ type: 'error-text', value: long }, 'error-text'],
    [{ type: 'json', value: { long } }, 'text'],
  ])('cuts a result of the type $type in the middle', (output, type) => {
    const [message] = shortenResults([resultOf(output)], 1_000, count) as [Message];
    expect(count(message)).toBeLessThanOrEqual(1_000);
    expect(message.content[0]).toMatchObject({
      output: { type, value: expect.stringContaining('characters left out') as unknown },
    });
    expect(message.content[1]).toMatchObject({ type: 'tool-approval-response' });
  });

  it('cuts all to the same length, no more than it takes', () => {
    const messages = [
      resultOf({ type: 'text', value: long }),
      resultOf({ type: 'text', value: 'short' }),
      resultOf({ type: 'text', value: long }),
    ];
    const [first, second, third] = shortenResults(messages, 12_000, count);
    expect(first).toEqual(third);
    expect(second).toBe(messages[1]);
    expect(JSON.stringify(first).length).toBeGreaterThan(15_000);
  });

  it('gives the shortest there is when even that does not fit', () => {
    const messages = Array.from({ length: 50 }, () => resultOf({ type: 'text', value: long }));
    for (const message of shortenResults(messages, 10, count)) {
      expect(JSON.stringify(message).length).toBeLessThan(1_400);
    }
  });
});
