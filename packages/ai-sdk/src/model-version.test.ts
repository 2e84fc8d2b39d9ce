import type { LanguageModelV2, LanguageModelV3 } from '@ai-sdk/provider';
import { describe, expect, it, vi } from 'vitest';
import { errorIn, outputsOf, responseIn } from '../test/calls.js';
import { languageModel } from './language-model.js';

const streamOf = <Part>(parts: readonly Part[]): ReadableStream<Part> =>
  new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });

const shared = {
  provider: 'older',
  modelId: 'older-1',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('Only streams.')),
};

const version3: LanguageModelV3 = {
  ...shared,
  specificationVersion: 'v3',
  doStream: async () => {
    return {
      stream: streamOf([
        { type: 'stream-start', warnings: [] },
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: 'Three.' },
        { type: 'text-end', id: '1' },
        { type: 'file', mediaType: 'image/png', data: 'AQID' },
        {
          type: 'finish',
          finishReason: { unified: 'stop', raw: 'done' },
          usage: {
            inputTokens: { total: 4, noCache: 1, cacheRead: 3, cacheWrite: undefined },
            outputTokens: { total: 2, text: 2, reasoning: undefined },
          },
        },
      ]),
    };
  },
};

const version2: LanguageModelV2 = {
  ...shared,
  specificationVersion: 'v2',
  doStream: async () => ({
    stream: streamOf([
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '1' },
      { type: 'text-delta', id: '1', delta: 'Two.' },
      { type: 'text-end', id: '1' },
      {
        type: 'finish',
        finishReason: 'stop',
        usage: { inputTokens: 100, outputTokens: 2, totalTokens: 1_002, cachedInputTokens: 900 },
      },
    ]),
  }),
};

// The SDK's adapter for version 2 warns on the console.
vi.stubGlobal('AI_SDK_LOG_WARNINGS', false);

describe('languageModel', () => {
  it('accepts a model of version 3', async () => {
    const { content, usage } = responseIn(await outputsOf(languageModel(version3)));
    expect(content).toEqual([
      { type: 'text', text: 'Three.' },
      { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' },
    ]);
    expect(usage).toEqual({ input: 4, cacheRead: 3, cacheWrite: 0, output: 2, reasoning: 0 });
  });

  it('accepts a model of version 2, and adds its cached tokens to the total', async () => {
    const { content, usage } = responseIn(await outputsOf(languageModel({ resolve: () => version2 })));
    expect(content).toEqual([{ type: 'text', text: 'Two.' }]);
    expect(usage).toEqual({ input: 1_000, cacheRead: 900, cacheWrite: 0, output: 2, reasoning: 0 });
  });

  it('names the supported versions in the error for any other', async () => {
    const { error } = errorIn(await outputsOf(languageModel({ ...version3, specificationVersion: 'v9' } as never)));
    expect(error).toMatchObject({ code: 'unsupported-model', message: expect.stringContaining('"v9"') as string });
  });
});
