import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { MastraLanguageModel } from '@mastra/core/agent';
import { describe, expect, it } from 'vitest';
import { asV4, forMastra, mapped, upgradedOptions, type Version } from './model-versions.js';

const streamOf = (parts: readonly unknown[]) =>
  new ReadableStream({
    start: (controller) => {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
const read = async (stream: ReadableStream<unknown>): Promise<unknown[]> => {
  const parts: unknown[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
};
const prompt: LanguageModelV4CallOptions['prompt'] = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AAAA' } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/a.png') } },
    ],
  },
  {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: '1',
        toolName: 'look',
        output: {
          type: 'content',
          value: [{ type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'BBBB' } }],
        },
      },
    ],
  },
];
const modelOf = (
  version: Version,
  result: object,
): { model: MastraLanguageModel; given: LanguageModelV4CallOptions[] } => {
  const given: LanguageModelV4CallOptions[] = [];
  const call = (options: LanguageModelV4CallOptions) => {
    given.push(options);
    return Promise.resolve(result);
  };
  const model = { specificationVersion: version, provider: 'test', modelId: 'a', doGenerate: call, doStream: call };
  return { model: model as unknown as MastraLanguageModel, given };
};

describe('asV4', () => {
  it.each(['v2', 'v3'] as const)('converts files that operators wrote to the shape of %s', async (version) => {
    const { model, given } = modelOf(version, { stream: streamOf([]) });
    const tools = [{ type: 'provider', id: 'test.search', name: 'search', args: {} }] as const;
    await asV4(model).doStream({ prompt, tools: [...tools] });
    expect(given[0]?.prompt[1]).toMatchObject({
      content: [{ data: 'AAAA' }, { data: new URL('https://example.com/a.png') }],
    });
    expect(given[0]?.prompt[2]).toMatchObject({
      content: [{ output: { value: [{ type: version === 'v2' ? 'media' : 'file-data', data: 'BBBB' }] } }],
    });
    expect(given[0]?.tools?.[0]?.type).toBe(version === 'v2' ? 'provider-defined' : 'provider');
  });

  it('passes messages that need no conversion as the same objects', async () => {
    const old = [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }] }] as never;
    for (const version of ['v2', 'v3', 'v4'] as const) {
      const { model, given } = modelOf(version, { stream: streamOf([]) });
      await asV4(model).doStream({ prompt: old });
      expect(given[0]?.prompt[0]).toBe(old[0]);
    }
  });

  it('reads the finish reason and the usage of older answers', async () => {
    const end = {
      finishReason: 'unknown',
      usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10, cachedInputTokens: 5 },
    };
    const expected = {
      finishReason: { unified: 'other' },
      usage: { inputTokens: { total: 7, cacheRead: 5 }, outputTokens: { total: 3 } },
    };
    const { model } = modelOf('v2', { ...end, content: [] });
    expect(await asV4(model).doGenerate({ prompt })).toMatchObject(expected);
    const streamed = modelOf('v2', { stream: streamOf([{ type: 'finish', ...end }]) });
    const { stream } = await asV4(streamed.model).doStream({ prompt });
    expect(await read(stream)).toMatchObject([expected]);
  });

  it('rejects with the error of a stream that Mastra returns instead of an answer', async () => {
    const { model } = modelOf('v2', { stream: streamOf([{ type: 'error', error: new Error('No key.') }]) });
    await expect(asV4(model).doGenerate({ prompt })).rejects.toThrow('No key.');
  });

  it('restores the file data that Mastra removed from answers, and removes it again', async () => {
    const files = [
      { type: 'file', mediaType: 'image/png', data: 'AAAA' },
      { type: 'file', mediaType: 'image/png', data: 'https://example.com/a.png' },
    ];
    const { model } = modelOf('v4', { stream: streamOf(files) });
    const { stream } = await asV4(model).doStream({ prompt });
    const convert = (part: LanguageModelV4StreamPart) => part;
    const parts = (await read(mapped(stream, convert))) as readonly LanguageModelV4StreamPart[];
    expect(parts).toMatchObject([{ data: { type: 'data', data: 'AAAA' } }, { data: { type: 'url' } }]);
    expect(parts.map((part) => forMastra(part))).toEqual(files);
  });
});

describe('upgradedOptions', () => {
  it('renames tools of the provider, so that operators observe them', () => {
    const tools = [{ type: 'provider-defined', id: 'test.search', name: 'search', args: {} }];
    expect(upgradedOptions({ prompt, tools }).tools).toMatchObject([{ type: 'provider', name: 'search' }]);
  });
});
