import type { LanguageModelV4Content, LanguageModelV4GenerateResult } from '@ai-sdk/provider';

export const usage = {
  inputTokens: { total: 9, noCache: 9, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 2, text: 2, reasoning: 0 },
};

/** Returns the answer of a model without streaming: text, or calls. */
export const answer = (...content: readonly LanguageModelV4Content[]): LanguageModelV4GenerateResult => ({
  content: [...content],
  finishReason: { unified: content[0]?.type === 'text' ? 'stop' : 'tool-calls', raw: '' },
  usage,
  warnings: [],
});
