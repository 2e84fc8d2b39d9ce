import { Usage, type ModelResponse } from '@openai/agents';
import { assistantMessage, functionCall } from '@openai/agents/testing';
import { expect, it } from 'vitest';
import { toHostResponse, toTurnResponse } from './host-response.js';

const answer = (output: ModelResponse['output'], more: Partial<ModelResponse> = {}): ModelResponse => ({
  output,
  usage: new Usage(),
  ...more,
});

it('counts the same tokens in an answer that operators changed', () => {
  const usage = new Usage({
    requests: 1,
    inputTokens: 100,
    outputTokens: 20,
    totalTokens: 120,
    inputTokensDetails: [{ cached_tokens: 30, cache_write_tokens: 40 }],
    outputTokensDetails: [{ reasoning_tokens: 5 }],
  });
  const read = toTurnResponse(answer([assistantMessage('Hi')], { usage, responseId: 'r1' }));
  expect(read).toMatchObject({
    id: 'r1',
    usage: { input: 100, output: 20, cacheRead: 30, cacheWrite: 40, reasoning: 5 },
  });
  expect(toHostResponse(read)).toMatchObject({ responseId: 'r1', usage });
  expect(toHostResponse(toTurnResponse(answer([])))).not.toHaveProperty('responseId');
});

it.each<[string, ModelResponse['output'], Record<string, unknown> | undefined]>([
  ['stop', [assistantMessage('Hi')], undefined],
  ['tool-calls', [functionCall('read', {}, { callId: 'a' })], undefined],
  ['length', [functionCall('read', {}, { callId: 'a' })], { choices: [{ finish_reason: 'length' }] }],
  ['length', [assistantMessage('Hi')], { incomplete_details: { reason: 'max_output_tokens' } }],
  ['content-filter', [assistantMessage('Hi')], { incomplete_details: { reason: 'content_filter' } }],
  ['stop', [assistantMessage('Hi')], { choices: [{ finish_reason: 'stop' }], incomplete_details: null }],
])('reads the finish reason %s', (finishReason, output, providerData) => {
  expect(toTurnResponse(answer(output, providerData && { providerData })).finishReason).toBe(finishReason);
});

it('names the calls whose input is not JSON', () => {
  const broken = { ...functionCall('read', {}, { callId: 'a' }), arguments: '{"path":' };
  const { invalidCalls } = toTurnResponse(answer([broken, functionCall('read', {}, { callId: 'b' })]));
  expect(Object.keys(invalidCalls ?? {})).toEqual(['a']);
});
