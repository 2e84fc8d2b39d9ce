import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { intercept, retry, type AssistantPart, type PipelineOperator, type TurnEventOf } from '@h/turn';
import { describe, expect, it, vi } from 'vitest';
import { countingListeners } from '../test/calls.js';
import { wrapModel } from './wrap-model.js';

const options: LanguageModelV4CallOptions = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] };

const given: LanguageModelV4GenerateResult = {
  content: [
    { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.example' },
    { type: 'text', text: 'Well.', citations: [], providerMetadata: { any: { item: 1 } } },
    { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: '{"town": "Rome"}', dynamic: true },
  ],
  finishReason: { unified: 'tool-calls', raw: 'CALLS' },
  usage: {
    inputTokens: { total: 4, noCache: 4, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 2, text: 2, reasoning: undefined },
    raw: { odd: true },
  },
  providerMetadata: { any: { end: 1 } },
  request: { body: 'sent' },
  response: { id: 'r1', modelId: 'scripted-1', headers: { a: 'b' } },
  warnings: [{ type: 'other', message: 'Careful.' }],
};

const answering = (result: LanguageModelV4GenerateResult): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'scripted.test',
  modelId: 'scripted-1',
  supportedUrls: {},
  doGenerate: () => Promise.resolve(result),
  doStream: () => Promise.reject(new Error('Only whole answers.')),
});

const asked = (result: LanguageModelV4GenerateResult, ...operators: PipelineOperator[]) =>
  wrapModel(answering(result), ...operators).doGenerate(options);

const onResponse = (
  change: (event: TurnEventOf<'model.response'>) => TurnEventOf<'model.response'>,
): PipelineOperator => intercept('on-response', () => ({ decide: { 'model.response': change } }));

const withContent = (content: readonly AssistantPart[]) =>
  asked(
    { ...given, content: [] },
    onResponse((event) => ({ ...event, content })),
  );

describe('wrapModel around a whole answer', () => {
  it('passes the answer unchanged if no operator changes it', async () => {
    expect(await asked(given)).toStrictEqual(given);
    expect(
      await asked(
        given,
        onResponse((event) => ({ ...event, annotations: { any: 1 } })),
      ),
    ).toStrictEqual(given);
  });

  it('converts the answer to a model response for operators', async () => {
    let seen: TurnEventOf<'model.response'> | undefined;
    await asked(
      given,
      onResponse((event) => {
        seen = event;
        return event;
      }),
    );
    expect(seen).toMatchObject({
      step: 1,
      attempt: 1,
      content: [
        { type: 'text', text: 'Well.', providerOptions: { any: { item: 1 } } },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { town: 'Rome' } },
      ],
      finishReason: 'tool-calls',
      usage: { input: 4, cacheRead: 0, cacheWrite: 0, output: 2, reasoning: 0 },
      id: 'r1',
      model: 'scripted-1',
    });
  });

  it('applies exactly the changes of an operator', async () => {
    const changed = await asked(
      given,
      onResponse((event) => ({
        ...event,
        finishReason: 'stop',
        content: [{ type: 'text', text: 'Better.' }, ...event.content.slice(1)],
      })),
    );
    expect(changed).toStrictEqual({
      ...given,
      content: [given.content[0], { type: 'text', text: 'Better.' }, given.content[2]],
      finishReason: { unified: 'stop', raw: 'CALLS' },
    });
  });

  it.each([
    [
      { type: 'reasoning', text: 'Hm.', providerOptions: { any: { s: 1 } } },
      { type: 'reasoning', text: 'Hm.', providerMetadata: { any: { s: 1 } } },
    ],
    [
      { type: 'custom', kind: 'any.thing' },
      { type: 'custom', kind: 'any.thing' },
    ],
    [
      { type: 'reasoning-file', data: 'AQID', mediaType: 'image/png' },
      { type: 'reasoning-file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' },
    ],
    [
      { type: 'tool-call', toolCallId: 'c', toolName: 't', input: undefined, providerExecuted: true },
      { type: 'tool-call', toolCallId: 'c', toolName: 't', input: '{}', providerExecuted: true },
    ],
    [
      { type: 'tool-call', toolCallId: 'c', toolName: 't', input: '{"cut' },
      { type: 'tool-call', toolCallId: 'c', toolName: 't', input: '{"cut' },
    ],
    [
      { type: 'tool-result', toolCallId: 'c', toolName: 't', output: { type: 'error-json', value: { a: 1 } } },
      { type: 'tool-result', toolCallId: 'c', toolName: 't', result: { a: 1 }, isError: true },
    ],
    [
      { type: 'tool-result', toolCallId: 'c', toolName: 't', output: { type: 'execution-denied', reason: 'No.' } },
      { type: 'tool-result', toolCallId: 'c', toolName: 't', result: 'No.' },
    ],
    [
      { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c' },
      { type: 'tool-approval-request', approvalId: 'a', toolCallId: 'c' },
    ],
  ] as [AssistantPart, object][])('says %j as a model would', async (part, expected) => {
    expect((await withContent([part])).content).toEqual([expected]);
  });

  it('rejects content from an operator that the host does not support', async () => {
    await expect(withContent([{ type: 'file', data: { openai: 'f1' }, mediaType: 'image/png' }])).rejects.toMatchObject(
      { code: 'invalid-input' },
    );
  });

  it('emits a failed answer to operators, and passes it to the host unchanged', async () => {
    const errors: unknown[] = [];
    const log = intercept('log', () => ({
      observe: { 'model.error': ({ error, usage }) => void errors.push([error.code, usage?.input]) },
    }));
    const failed: LanguageModelV4GenerateResult = { ...given, finishReason: { unified: 'error', raw: 'bad' } };
    expect(await asked(failed, log)).toBe(failed);
    expect(errors).toEqual([['model-failed', 4]]);
  });

  it('counts the tokens of every attempt', async () => {
    const totals: number[] = [];
    const patient = intercept('patient', () => ({
      observe: { 'turn.end': ({ usage }) => void totals.push(usage.input, usage.output) },
      decide: { 'model.error': (event) => (event.attempt < 3 ? retry(event) : undefined) },
    }));
    await asked({ ...given, finishReason: { unified: 'error', raw: 'bad' } }, patient);
    expect(totals).toEqual([12, 6]);
  });

  it('ignores the answer of a replaced attempt', async () => {
    const answers: ((result: LanguageModelV4GenerateResult) => void)[] = [];
    const model: LanguageModelV4 = {
      ...answering(given),
      doGenerate: () => new Promise((resolve) => answers.push(resolve)),
    };
    const tooSlow = { name: 'Error', message: 'Too slow.' };
    const impatient = intercept('impatient', ({ after, emit }) => ({
      observe: {
        'model.request': (event) => {
          if (event.attempt === 1) {
            after(1, () => emit({ type: 'model.error', step: 1, attempt: 1, error: tooSlow, retrying: true }));
          }
        },
      },
    }));
    const slow = intercept('slow', () => ({
      decide: {
        'model.response': () => new Promise<undefined>((resolve) => void setImmediate(() => resolve(undefined))),
      },
    }));
    const result = wrapModel(model, impatient, slow).doGenerate(options);
    await vi.waitUntil(() => answers.length === 2);
    answers[1]?.(given);
    answers[0]?.({ ...given, content: [{ type: 'text', text: 'Too late.' }], request: { body: 'late' } });
    expect(await result).toStrictEqual(given);
  });

  it('leaves no listener on a long-lived signal', async () => {
    const { signal, count } = countingListeners(new AbortController().signal);
    await wrapModel(answering(given)).doGenerate({ ...options, abortSignal: signal });
    expect(count()).toBe(0);
  });

  it('passes an error from an operator to the host', async () => {
    const empty = intercept('empty', () => ({
      decide: {
        'model.response': ({ step, attempt }) => ({
          type: 'model.error',
          step,
          attempt,
          error: { name: 'Error', message: 'Nothing said.' },
        }),
      },
    }));
    await expect(asked(given, empty)).rejects.toMatchObject({
      code: 'model-error',
      message: 'Nothing said.',
      cause: { name: 'Error' },
    });
  });
});
