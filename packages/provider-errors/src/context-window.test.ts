import { describe, expect, it } from 'vitest';
import { contextWindowIn } from './context-window.js';

describe('contextWindowIn', () => {
  it.each([
    ['prompt is too long: 210000 tokens > 200000 maximum', 200_000],
    ['This model\u2019s maximum context length is 128,000 tokens. However, you requested 140123 tokens.', 128_000],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    ['request (66202 tokens) exceeds the available context size (65536 tokens), try increasing it', 65_536],
    ['prompt token count of 141422 exceeds the limit of 128000', 128_000],
    ['Your request exceeded model token limit: 262144 (requested: 291351)', 262_144],
    ['Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 30601.', 30_000],
    ['prompt is too long', undefined],
    ['at most 12 images', undefined],
  ])('finds in %j the window %s', (message, window) => {
    expect(contextWindowIn({ message })).toBe(window);
    expect(contextWindowIn({ error: { message } })).toBe(window);
  });
});
