import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { reasoningEfforts } from './effort.js';
import { reasoningModelOf } from './providers.js';

const common = 'low medium high';

describe('reasoningModelOf', () => {
  it.each<[string, string, string]>([
    ['anthropic/claude-3-5-haiku-20241022', 'signed', ''],
    ['anthropic/claude-3-7-sonnet-20250219', 'signed', `none ${common}`],
    ['anthropic/claude-opus-4-20250514', 'signed', `none ${common}`],
    ['anthropic/claude-sonnet-4-5-20250929', 'signed', `none ${common}`],
    ['claude-opus-4-6', 'signed', `none ${common} max`],
    ['anthropic/claude-opus-5', 'signed', `none ${common} xhigh max`],
    ['anthropic/claude-fable-5', 'signed', `${common} xhigh max`],
    ['anthropic/claude-fable-5-1', 'bound', `${common} xhigh max`],
    ['anthropic/claude-opus-5-5', 'bound', `${common} xhigh max`],
    ['anthropic/claude-haiku-5-5', 'bound', `none ${common} xhigh max`],
    ['bedrock/anthropic.claude-sonnet-5-5-v1:0', 'bound', `${common} xhigh max`],
    ['openrouter/anthropic/claude-opus-5.5', 'bound', ''],
    ['openai/gpt-4o', 'signed', ''],
    ['openai/gpt-5', 'signed', `minimal ${common}`],
    ['openai/gpt-5-codex', 'signed', common],
    ['openai/gpt-5-chat-latest', 'signed', ''],
    ['openai/gpt-5-pro', 'signed', 'high'],
    ['gpt-5.1', 'signed', `none ${common}`],
    ['openai/gpt-5.6', 'signed', `none ${common} xhigh max`],
    ['openai/gpt-6-astra', 'signed', `${common} xhigh max`],
    ['openai/o4-mini', 'signed', common],
    ['google/gemini-2.0-flash', 'signed', ''],
    ['google/gemini-2.5-pro', 'signed', common],
    ['google/gemini-3-pro-preview', 'signed', 'low high'],
    ['xai/grok-4.3', 'signed', ''],
    ['deepseek/deepseek-v4-pro', 'text', `${common} max`],
    ['deepseek/deepseek-reasoner', 'text', `${common} max`],
    ['ollama/deepseek-r1:8b', 'dropped', ''],
    ['zai/glm-4.7', 'text', ''],
    ['local/kimi-k2-thinking', 'text', ''],
    ['ollama/llama3.2', 'dropped', ''],
    ['mistral/magistral-medium', 'dropped', ''],
  ])('knows %s as %s with the efforts "%s"', (name, history, efforts) => {
    const model = reasoningModelOf(name);
    expect({ history: model.history, efforts: model.efforts.join(' ') }).toEqual({ history, efforts });
  });

  it('expects a thought before tool results of models with a token budget only', () => {
    expect(reasoningModelOf('anthropic/claude-sonnet-4-5').needsThoughtFirst).toBe(true);
    expect(reasoningModelOf('anthropic/claude-sonnet-4-6').needsThoughtFirst).toBe(false);
  });

  it('accepts the signatures of a gateway only from that gateway', () => {
    expect(reasoningModelOf('openrouter/anthropic/claude-opus-5').signedBy).toEqual(['openrouter']);
    expect(reasoningModelOf('azure/gpt-5').signedBy).toContain('azure');
  });

  it('returns efforts in ascending order for any name', () => {
    const names = fc.oneof(
      fc.string(),
      fc
        .tuple(
          fc.constantFrom('claude-opus-', 'claude-', 'gpt-', 'gemini-', 'openai/gpt-', 'deepseek-', 'o'),
          fc.string({ unit: fc.constantFrom('0', '5', '9', '.', '-', 'x'), maxLength: 8 }),
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(names, (name) => {
        const ranks = reasoningModelOf(name).efforts.map((effort) => reasoningEfforts.indexOf(effort));
        expect(ranks).toEqual([...new Set(ranks)].toSorted((one, other) => one - other));
      }),
    );
  });
});
