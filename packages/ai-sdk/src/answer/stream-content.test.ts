import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { toAssistantPart } from './answer-parts.js';
import { streamContent } from './stream-content.js';

const collected = (parts: readonly LanguageModelV4StreamPart[]) => {
  const stream = streamContent();
  const deltas = parts.flatMap((part) => stream.add(part) ?? []);
  return { deltas, content: stream.content.flatMap((part) => toAssistantPart(part) ?? []) };
};

describe('streamContent', () => {
  it('keeps the start order of interleaved blocks', () => {
    const { content, deltas } = collected([
      { type: 'text-start', id: 'a' },
      { type: 'reasoning-start', id: 'a' },
      { type: 'text-delta', id: 'a', delta: 'one ' },
      { type: 'reasoning-delta', id: 'a', delta: 'hm' },
      { type: 'text-delta', id: 'a', delta: 'two' },
    ]);
    expect(content).toEqual([
      { type: 'text', text: 'one two' },
      { type: 'reasoning', text: 'hm' },
    ]);
    expect(deltas).toEqual([
      { type: 'text', text: 'one ', id: 'a' },
      { type: 'reasoning', text: 'hm', id: 'a' },
      { type: 'text', text: 'two', id: 'a' },
    ]);
  });

  it('starts a new block for a reused id or a missing start', () => {
    const { content } = collected([
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'one' },
      { type: 'text-end', id: '0' },
      { type: 'text-delta', id: '0', delta: 'two' },
      { type: 'reasoning-end', id: 'never begun' },
    ]);
    expect(content).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]);
  });

  it('keeps the latest metadata of a block as plain JSON', () => {
    const { content, deltas } = collected([
      { type: 'reasoning-start', id: '0', providerMetadata: { any: { signature: 'early' } } },
      {
        type: 'reasoning-delta',
        id: '0',
        delta: '',
        providerMetadata: { any: { signature: 'late', gone: undefined } },
      },
      { type: 'reasoning-end', id: '0' },
    ]);
    expect(content).toStrictEqual([{ type: 'reasoning', text: '', providerOptions: { any: { signature: 'late' } } }]);
    expect(deltas).toEqual([]);
  });

  it('keeps empty text only with metadata', () => {
    const { content } = collected([
      { type: 'text-start', id: '0' },
      { type: 'text-end', id: '0' },
      { type: 'text-start', id: '1' },
      { type: 'text-end', id: '1', providerMetadata: { openai: { itemId: 'm1' } } },
    ]);
    expect(content).toEqual([{ type: 'text', text: '', providerOptions: { openai: { itemId: 'm1' } } }]);
  });

  it('keeps files in a form that JSON can store', () => {
    const { content } = collected([
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
      { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://a.example/b') } },
      {
        type: 'reasoning-file',
        mediaType: 'image/png',
        data: { type: 'data', data: 'AQID' },
        providerMetadata: { any: { a: 1 } },
      },
    ]);
    expect(content).toEqual([
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
      { type: 'file', mediaType: 'image/png', data: 'https://a.example/b' },
      {
        type: 'reasoning-file',
        mediaType: 'image/png',
        data: { type: 'data', data: 'AQID' },
        providerOptions: { any: { a: 1 } },
      },
    ]);
    expect(JSON.parse(JSON.stringify(content))).toEqual(content);
  });

  it('keeps the final results of provider tools, with text and errors separate', () => {
    const result = { type: 'tool-result', toolCallId: 'p1', toolName: 'image' } as const;
    const { content } = collected([
      { type: 'tool-call', toolCallId: 'p1', toolName: 'image', input: '{}', providerExecuted: true, dynamic: true },
      { ...result, result: { partial: true }, preliminary: true },
      { ...result, result: { done: true } },
      { ...result, result: 'done' },
      { ...result, result: 'Too large.', isError: true },
      { ...result, result: { code: 7 }, isError: true },
      { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'p1' },
      { type: 'custom', kind: 'any.thing', providerMetadata: { any: { a: 1 } } },
      { type: 'custom', kind: 'anthropic.message_start' },
    ]);
    expect(content).toEqual([
      { type: 'tool-call', toolCallId: 'p1', toolName: 'image', input: {}, providerExecuted: true },
      { ...result, output: { type: 'json', value: { done: true } } },
      { ...result, output: { type: 'text', value: 'done' } },
      { ...result, output: { type: 'error-text', value: 'Too large.' } },
      { ...result, output: { type: 'error-json', value: { code: 7 } } },
      { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'p1' },
      { type: 'custom', kind: 'any.thing', providerOptions: { any: { a: 1 } } },
    ]);
  });

  it('emits input deltas only for a started call', () => {
    const { deltas } = collected([
      { type: 'tool-input-delta', id: 'unknown', delta: 'x' },
      { type: 'tool-input-start', id: 'c1', toolName: 'weather' },
      { type: 'tool-input-delta', id: 'c1', delta: '' },
      { type: 'tool-input-delta', id: 'c1', delta: '{}' },
      { type: 'tool-input-end', id: 'c1' },
      { type: 'ping' },
      { type: 'raw', rawValue: 1 },
    ]);
    expect(deltas).toEqual([{ type: 'tool-input', toolCallId: 'c1', toolName: 'weather', text: '{}' }]);
  });
});
