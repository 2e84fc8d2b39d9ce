import { calcPrice } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadPrices } from './load-prices.js';

const used = (input: number, output: number, cacheRead = 0, cacheWrite = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning: 0,
});
const at = new Date('2026-11-01T12:00:00Z');
const models = [
  'anthropic/claude-sonnet-4-5',
  'anthropic/claude-opus-4-5',
  'openai/gpt-5',
  'openai/gpt-5-mini',
  'google/gemini-2.5-pro',
  'deepseek/deepseek-chat',
  'openrouter/anthropic/claude-sonnet-4.5',
  'azure/gpt-5',
  'mistral/mistral-large-latest',
];

describe('loadPrices', () => {
  it('returns the costs of the catalog for every model, long inputs and hours included', async () => {
    const costOf = await loadPrices({ now: () => at });
    let priced = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...models),
        fc.nat(600_000),
        fc.nat(300_000),
        fc.nat(50_000),
        fc.nat(20_000),
        (model, fresh, cacheRead, cacheWrite, output) => {
          const input = fresh + cacheRead + cacheWrite;
          const [provider = '', ...rest] = model.split('/');
          const theirs = calcPrice(
            {
              input_tokens: input,
              cache_read_tokens: cacheRead,
              cache_write_tokens: cacheWrite,
              output_tokens: output,
            },
            rest.join('/'),
            { providerId: provider, timestamp: at },
          );
          const ours = costOf(used(input, output, cacheRead, cacheWrite), model);
          if (theirs === null) expect(ours).toBeUndefined();
          else expect(ours).toBeCloseTo(theirs.total_price, 9);
          if (ours !== undefined) priced += 1;
        },
      ),
      { numRuns: 300 },
    );
    expect(priced).toBeGreaterThan(150);
  });

  it.each([
    'nobody/nothing',
    'ollama/llama3',
    'toString',
    '',
    '/',
    'anthropic/',
    'openai-compatible/gpt-oss',
    undefined,
  ])('returns undefined for the unknown price of %j', async (model) => {
    const costOf = await loadPrices();
    expect(costOf(used(1000, 10), model)).toBeUndefined();
  });

  it('finds a model without its provider, and by other provider names', async () => {
    const costOf = await loadPrices();
    expect(costOf(used(1e6, 0), 'claude-opus-4-5')).toBe(5);
    expect(costOf(used(1e6, 0), 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0')).toBeGreaterThan(3);
  });

  it('prefers overrides to the catalog', async () => {
    const costOf = await loadPrices({
      overrides: { 'openai/gpt-5': { input: 7, output: 7 }, 'ollama/*': { input: 0, output: 0 } },
    });
    expect([
      costOf(used(1e6, 0), 'openai/gpt-5'),
      costOf(used(1e6, 0), 'ollama/x'),
      costOf(used(1e6, 0), 'azure/gpt-5'),
    ]).toEqual([7, 0, 1.25]);
  });

  it('looks up each model in the catalog once', async () => {
    const costOf = await loadPrices();
    costOf(used(1, 1), 'anthropic/claude-sonnet-4-5');
    /** The least of five rounds, because other threads of the process count as well. */
    const cost = (model: (count: number) => string): number => {
      const rounds = Array.from({ length: 5 }, (_, round) => {
        const begin = process.cpuUsage();
        for (let count = 0; count < 500; count += 1) costOf(used(count, 1), model(500 * round + count));
        return process.cpuUsage(begin).user;
      });
      return Math.min(...rounds);
    };
    const known = cost(() => 'anthropic/claude-sonnet-4-5');
    expect(cost((count) => `anthropic/claude-${count}`)).toBeGreaterThan(3 * known);
  });

  it('names the package to install if the catalog is missing', async () => {
    vi.doMock('@pydantic/genai-prices', () => {
      throw new Error('Cannot find package.');
    });
    onTestFinished(() => vi.doUnmock('@pydantic/genai-prices'));
    await expect(loadPrices()).rejects.toMatchObject({
      code: 'no-catalog',
      message:
        'loadPrices() needs the package "@pydantic/genai-prices", which cannot be loaded. Run: npm install @pydantic/genai-prices',
    });
  });

  it('rejects unknown options', async () => {
    await expect(loadPrices({ override: {} } as never)).rejects.toThrow(
      'loadPrices(): unknown option "override" (received {}). Did you mean "overrides"? Known options: overrides, now.',
    );
  });
});
