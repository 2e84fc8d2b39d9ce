import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import {
  intercept,
  notice,
  noUsage,
  retry,
  stop,
  type AssistantPart,
  type DecisionInput,
  type NewEvent,
  type PipelineOperator,
  type TurnEventOf,
} from '@h/turn';
import { isStepCount, streamText, tool } from 'ai';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import {
  anthropicAt,
  anthropicBlock,
  anthropicEnd,
  anthropicStart,
  sendAnthropic,
  startServer,
} from '../test/servers.js';
import { wrapModel } from './wrap-model.js';

const options: LanguageModelV4CallOptions = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }] };
const usage = {
  inputTokens: { total: 4, noCache: 4, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
  raw: { odd: true },
};

const said = (text: string, id = '0'): LanguageModelV4StreamPart[] => [
  { type: 'text-start', id, providerMetadata: { any: { start: id } } },
  ...text.split('').map((delta): LanguageModelV4StreamPart => ({
    type: 'text-delta',
    id,
    delta,
    providerMetadata: { any: { delta } },
  })),
  { type: 'text-end', id },
];
const toolCall = {
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'weather',
  input: '{"town": "Rome"}',
  providerMetadata: { any: { id: 1 } },
} as const;
const finish = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'END' },
  usage,
  providerMetadata: { any: { end: 1 } },
} as const;
const whole: LanguageModelV4StreamPart[] = [
  { type: 'stream-start', warnings: [{ type: 'other', message: 'Careful.' }] },
  { type: 'response-metadata', id: 'r1', modelId: 'scripted-1', timestamp: new Date(0) },
  { type: 'reasoning-start', id: '9' },
  { type: 'reasoning-delta', id: '9', delta: 'Hm.' },
  { type: 'reasoning-delta', id: '9', delta: '', providerMetadata: { any: { signature: 's' } } },
  { type: 'reasoning-end', id: '9' },
  ...said('Hi'),
  { type: 'source', sourceType: 'url', id: 's1', url: 'https://a.example' },
  { type: 'tool-input-start', id: 'c1', toolName: 'weather' },
  { type: 'tool-input-delta', id: 'c1', delta: '{"town": "Rome"}' },
  { type: 'tool-input-end', id: 'c1' },
  toolCall,
  finish,
];

/** Creates a model that streams the parts of one attempt after another, and repeats the last attempt. */
const scripted = (...attempts: (readonly LanguageModelV4StreamPart[] | Error)[]) => {
  const calls: LanguageModelV4CallOptions[] = [];
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'scripted.test',
    modelId: 'scripted-1',
    supportedUrls: { 'image/*': [/./] },
    doGenerate: () => Promise.reject(new Error('Only streams.')),
    doStream: (given) => {
      const attempt = attempts[Math.min(calls.length, attempts.length - 1)] ?? [];
      calls.push(given);
      if (attempt instanceof Error) return Promise.reject(attempt);
      const stream = new ReadableStream<LanguageModelV4StreamPart>({
        start: (controller) => {
          for (const part of attempt) controller.enqueue(part);
          controller.close();
        },
      });
      return Promise.resolve({ stream, response: { headers: { attempt: String(calls.length) } } });
    },
  };
  return { model, calls };
};

const read = async (stream: ReadableStream<LanguageModelV4StreamPart>): Promise<LanguageModelV4StreamPart[]> => {
  const parts: LanguageModelV4StreamPart[] = [];
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return parts;
    parts.push(value);
  }
};

const streamed = async (model: LanguageModelV4, ...operators: PipelineOperator[]) => {
  const { stream, ...details } = await wrapModel(model, ...operators).doStream(options);
  return { parts: await read(stream), details };
};

const again = intercept('again', () => ({
  decide: { 'model.error': (event) => (event.attempt < 3 ? retry(event) : undefined) },
}));

/** Retries a call before it is answered. */
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

type Response = TurnEventOf<'model.response'> & { readonly request: TurnEventOf<'model.request'> };

/** Creates an operator that decides about an answer. */
const picky = (decide: (response: Response, emit: (event: NewEvent) => void) => DecisionInput): PipelineOperator =>
  intercept('picky', ({ emit }) => {
    let request: TurnEventOf<'model.request'> | undefined;
    return {
      observe: {
        'model.request': (event) => {
          request = event;
        },
      },
      decide: { 'model.response': (event) => request && decide({ ...event, request }, emit) },
    };
  });

const onDelta = (change: (event: TurnEventOf<'model.delta'>) => TurnEventOf<'model.delta'> | null): PipelineOperator =>
  intercept('on-delta', () => ({ decide: { 'model.delta': change } }));

describe('wrapModel around a stream', () => {
  it('passes every part unchanged and in order if no operator changes it', async () => {
    const { model } = scripted(whole);
    const { parts, details } = await streamed(
      model,
      again,
      intercept('idle', () => ({})),
    );
    expect(parts).toEqual(whole);
    expect(details).toEqual({ response: { headers: { attempt: '1' } } });
  });

  it('passes the options unchanged if no operator changes them', async () => {
    const { model, calls } = scripted(whole);
    const signal = new AbortController().signal;
    const given: LanguageModelV4CallOptions = {
      prompt: [
        {
          role: 'system',
          content: 'S',
          providerOptions: { openai: { odd: 1 }, anthropic: { cacheControl: { type: 'ephemeral' } } },
        },
        {
          role: 'user',
          content: [{ type: 'file', data: { type: 'url', url: new URL('https://a.example/b') }, mediaType: 'image' }],
        },
        { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }] },
      ],
      tools: [
        { type: 'provider', id: 'any.search', name: 'search', args: { depth: 1 } },
        {
          type: 'function',
          name: 'weather',
          inputSchema: {},
          strict: true,
          inputExamples: [{ input: { town: 'Rome' } }],
        },
      ],
      toolChoice: { type: 'tool', toolName: 'weather' },
      maxOutputTokens: 9,
      reasoning: 'max',
      stopSequences: ['END'],
      responseFormat: { type: 'json' },
      headers: { 'x-one': '1' },
      includeRawChunks: true,
      providerOptions: { any: { a: 1 } },
      abortSignal: signal,
    };
    const named = { ...given, providerOptions: { ...given.providerOptions, h: { session: 'alice' } } };
    await read((await wrapModel(model, again).doStream(named)).stream);
    expect(calls[0]).toEqual({ ...given, abortSignal: expect.any(AbortSignal) as AbortSignal });
    expect(calls[0]?.tools?.[1]).toBe(given.tools?.[1]);
  });

  it('sends the settings and tools that operators keep, and provider tools', async () => {
    const { model, calls } = scripted(whole);
    const search = { type: 'provider', id: 'any.search', name: 'search', args: {} } as const;
    const named = (name: string) => ({ type: 'function', name, inputSchema: {} }) as const;
    const fewer = intercept('fewer', () => ({
      decide: { 'model.request': (event) => ({ ...event, tools: event.tools.slice(1), settings: { seed: 1 } }) },
    }));
    await wrapModel(model, fewer).doStream({
      ...options,
      tools: [named('a'), search, named('b')],
      temperature: 0,
      headers: { a: 'b' },
    });
    expect(calls[0]).toEqual({
      ...options,
      tools: [named('b'), search],
      seed: 1,
      headers: { a: 'b' },
      abortSignal: expect.any(AbortSignal) as AbortSignal,
    });
  });

  it('lets an operator change, drop and add text', async () => {
    const { model } = scripted([...said('abc'), finish]);
    const changing = onDelta((event) => {
      if (event.delta.type !== 'text' || event.delta.text === 'a') return event;
      return event.delta.text === 'b' ? null : { ...event, delta: { ...event.delta, text: 'C' } };
    });
    const adding = intercept('adding', () => ({
      decide: {
        'model.response': (event) => [
          { type: 'model.delta', step: event.step, attempt: event.attempt, delta: { type: 'text', text: '!' } },
          event,
        ],
      },
    }));
    const { parts } = await streamed(model, changing, adding);
    expect(parts.slice(1)).toEqual([
      { type: 'text-delta', id: '0', delta: 'a', providerMetadata: { any: { delta: 'a' } } },
      { type: 'text-delta', id: '0', delta: 'C' },
      { type: 'text-end', id: '0' },
      { type: 'text-start', id: 'added-1' },
      { type: 'text-delta', id: 'added-1', delta: '!' },
      { type: 'text-end', id: 'added-1' },
      finish,
    ]);
  });

  it('lets an operator change streaming tool input', async () => {
    const { model } = scripted(whole);
    const hiding = onDelta((event) =>
      event.delta.type === 'tool-input' ? { ...event, delta: { ...event.delta, text: '…' } } : event,
    );
    const { parts } = await streamed(model, hiding);
    expect(parts.filter(({ type }) => type === 'tool-input-delta')).toEqual([
      { type: 'tool-input-delta', id: 'c1', delta: '…' },
    ]);
  });

  it('lets an operator change calls, usage and finish reason', async () => {
    const { model } = scripted(whole);
    const changing = intercept('changing', () => ({
      decide: {
        'model.response': (event) => ({
          ...event,
          finishReason: 'tool-calls',
          usage: { input: 10, cacheRead: 6, cacheWrite: 1, output: 5, reasoning: 2 },
          content: event.content.flatMap((part): AssistantPart[] =>
            part.type === 'tool-call' ? [part, { ...part, toolCallId: 'c2', input: { town: 'Oslo' } }] : [part],
          ),
        }),
      },
    }));
    const { parts } = await streamed(model, changing);
    expect(parts.slice(-3)).toEqual([
      toolCall,
      { ...toolCall, toolCallId: 'c2', input: '{"town":"Oslo"}' },
      {
        ...finish,
        finishReason: { unified: 'tool-calls', raw: 'END' },
        usage: {
          inputTokens: { total: 10, noCache: 3, cacheRead: 6, cacheWrite: 1 },
          outputTokens: { total: 5, text: 3, reasoning: 2 },
        },
      },
    ]);
  });

  it('holds a call and later parts until the operators have processed the answer', async () => {
    const { model } = scripted([...said('a'), toolCall, ...said('b', '1'), finish]);
    const stopping = intercept('stopping', () => ({ decide: { 'model.response': () => stop('blocked', 'No.') } }));
    const { parts } = await streamed(model, stopping);
    expect(parts.map(({ type }) => type)).toEqual(['text-start', 'text-delta', 'text-end', 'error']);
    expect((await streamed(model)).parts).toEqual([...said('a'), toolCall, ...said('b', '1'), finish]);
  });

  it('streams the input of later calls while it holds an earlier one', async () => {
    let seen = 0;
    const input: LanguageModelV4StreamPart[] = [
      { type: 'tool-input-start', id: 'c2', toolName: 'weather' },
      { type: 'tool-input-delta', id: 'c2', delta: '{}' },
    ];
    const { model } = scripted([...said('a'), toolCall, ...input, { ...toolCall, toolCallId: 'c2' }, finish]);
    const counting = intercept('counting', () => ({
      decide: { 'model.response': () => stop('blocked', 'No.') },
      finalize: () => void (seen += 1),
    }));
    const { parts } = await streamed(model, counting);
    expect(parts.slice(3, -1)).toEqual(input);
    expect(seen).toBe(1);
  });

  it('names an operator that emits the end of the turn', async () => {
    const early = intercept('early', () => ({
      decide: {
        'model.request': (event) => [{ type: 'turn.end', outcome: 'completed', steps: 0, usage: noUsage }, event],
      },
    }));
    await expect(streamed(scripted(whole).model, early)).rejects.toMatchObject({ operator: 'early' });
  });

  it('discards attempts without visible parts', async () => {
    const start: LanguageModelV4StreamPart = { type: 'stream-start', warnings: [] };
    const { model, calls } = scripted(
      new Error('Refused.'),
      [
        start,
        { type: 'response-metadata', id: 'first' },
        { type: 'text-start', id: '0' },
        { type: 'error', error: { message: 'Overloaded' } },
      ],
      [start, ...said('Yes'), finish],
    );
    const { parts, details } = await streamed(model, again);
    expect(parts).toEqual([start, ...said('Yes'), finish]);
    expect(details.response).toEqual({ headers: { attempt: '3' } });
    expect(calls).toHaveLength(3);
  });

  it('discards the blocks of a discarded attempt', async () => {
    const { model } = scripted(
      [
        { type: 'text-start', id: '0' },
        { type: 'error', error: 'x' },
      ],
      [{ type: 'text-delta', id: '0', delta: 'Yes' }, finish],
    );
    const changing = onDelta((event) => ({ ...event, delta: { ...event.delta, text: 'No' } }));
    expect((await streamed(model, again, changing)).parts.slice(0, 3)).toEqual([
      { type: 'text-start', id: 'added-1' },
      { type: 'text-delta', id: 'added-1', delta: 'No' },
      { type: 'text-end', id: 'added-1' },
    ]);
  });

  it('passes the original error to the host without a retry after visible parts', async () => {
    const error = { message: 'Overloaded' };
    const { model, calls } = scripted([...said('We'), { type: 'error', error }]);
    const { parts } = await streamed(model, again);
    expect(parts.at(-1)).toEqual({ type: 'error', error });
    expect(calls).toHaveLength(1);
  });

  it('passes the error of an operator to the host if a retry is too late', async () => {
    const { model, calls } = scripted([...said('We'), finish]);
    const error = { name: 'Error', code: 'too-short', message: 'Too short.' };
    const { parts } = await streamed(
      model,
      picky(({ step, attempt }) => ({ type: 'model.error', step, attempt, error, retrying: true })),
    );
    expect(parts.at(-1)).toMatchObject({ type: 'error', error: { code: 'too-short' } });
    expect(calls).toHaveLength(1);
  });

  it('ignores a request that an operator emits without a command', async () => {
    const { model, calls } = scripted([...said('We'), finish]);
    const hasty = picky(async ({ request }, emit) => {
      emit({ ...request, attempt: request.attempt + 1 });
      return undefined;
    });
    const { parts } = await streamed(model, hasty);
    expect(parts.at(-1)).toEqual(finish);
    expect(calls).toHaveLength(1);
  });

  it('ends with the error of the connection', async () => {
    const broken: LanguageModelV4 = {
      ...scripted([]).model,
      doStream: () => {
        const parts = said('We').slice(0, 2);
        return Promise.resolve({
          stream: new ReadableStream<LanguageModelV4StreamPart>({
            pull: (controller) => {
              const part = parts.shift();
              if (part) controller.enqueue(part);
              else controller.error(new TypeError('terminated'));
            },
          }),
        });
      },
    };
    await expect(streamed(broken, again)).rejects.toThrow('terminated');
    await expect(streamed(scripted(new Error('Refused.')).model)).rejects.toThrow('Refused.');
  });

  it.each([
    ['without an end', 'incomplete-stream', [...said('We')]],
    [
      'as interrupted',
      'incomplete-stream',
      [...said('We'), { ...finish, finishReason: { unified: 'interrupted', raw: undefined } }],
    ],
    ['with an error', 'model-failed', [...said('We'), { ...finish, finishReason: { unified: 'error', raw: 'bad' } }]],
    ['with nothing', 'incomplete-stream', []],
  ] as const)('emits an answer that ends %s as %s, and passes it to the host unchanged', async (_, code, given) => {
    const errors: (string | undefined)[] = [];
    const log = intercept('log', () => ({ observe: { 'model.error': ({ error }) => void errors.push(error.code) } }));
    expect((await streamed(scripted(given).model, log)).parts).toEqual(given);
    expect(errors).toEqual([code]);
  });

  it('passes a rewritten error to the host', async () => {
    const rewriting = intercept('rewriting', () => ({
      decide: {
        'model.error': (event) => ({ ...event, error: { name: 'Error', code: 'busy', message: 'Come back later.' } }),
      },
    }));
    await expect(streamed(scripted(new Error('Refused.')).model, rewriting)).rejects.toMatchObject({
      code: 'busy',
      message: 'Come back later.',
    });
    const { parts } = await streamed(scripted([...said('We'), { type: 'error', error: 'x' }]).model, rewriting);
    expect(parts.at(-1)).toMatchObject({ type: 'error', error: { code: 'busy' } });
  });

  it('streams a replacement answer after the parts already shown', async () => {
    const replacing = intercept('replacing', () => ({
      decide: {
        'model.error': ({ step, attempt }) => ({
          type: 'model.response',
          step,
          attempt,
          content: [
            { type: 'text', text: 'Sorry.', providerOptions: { any: { a: 1 } } },
            { type: 'file', data: 'AQID', mediaType: 'image/png' },
            { type: 'tool-call', toolCallId: 'c9', toolName: 'retry', input: {} },
          ],
          finishReason: 'tool-calls',
          usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 },
          id: 'own',
        }),
      },
    }));
    const told = [
      { type: 'text-start', id: 'added-1', providerMetadata: { any: { a: 1 } } },
      { type: 'text-delta', id: 'added-1', delta: 'Sorry.' },
      { type: 'text-end', id: 'added-1', providerMetadata: { any: { a: 1 } } },
      { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png' },
      { type: 'tool-call', toolCallId: 'c9', toolName: 'retry', input: '{}' },
    ];
    const refused = await streamed(scripted(new Error('Refused.')).model, replacing);
    expect(refused.parts.slice(0, -1)).toEqual([
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'own' },
      ...told,
    ]);
    const cut = await streamed(scripted([...said('We')]).model, replacing);
    expect(cut.parts.slice(0, -1)).toEqual([...said('We'), ...told]);
    expect(cut.parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'tool-calls' } });
  });

  it('fails for content from an operator that the host does not support', async () => {
    const odd = intercept('odd', () => ({
      decide: {
        'model.response': (event) => ({
          ...event,
          content: [{ type: 'file', data: { openai: 'f1' }, mediaType: 'image/png' }],
        }),
      },
    }));
    const { parts } = await streamed(scripted([...said('We'), finish]).model, odd);
    expect(parts.at(-1)).toMatchObject({ type: 'error', error: { code: 'invalid-input' } });
  });

  it('ignores notices and commands that the host handles itself', async () => {
    const busy = intercept('busy', () => ({
      decide: {
        'model.request': (event) => [
          notice('history.replace', { messages: [], origin: 'busy' }),
          { type: 'session.state', key: 'a', value: 1 },
          event,
        ],
      },
    }));
    expect((await streamed(scripted(whole).model, busy)).parts).toEqual(whole);
  });

  it('closes the connection when the host cancels the stream', async () => {
    let gone = (): void => undefined;
    const closed = new Promise<void>((resolve) => (gone = resolve));
    const server = await startServer((response) => {
      response.on('close', gone);
      sendAnthropic(response, [
        anthropicStart(),
        ...anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Well' }]),
      ]);
    });
    const ends: string[] = [];
    const log = intercept('log', () => ({ observe: { 'turn.end': ({ outcome }) => void ends.push(outcome) } }));
    const { stream } = await wrapModel(anthropicAt(server.url)('claude-sonnet-4-5'), log).doStream(options);
    await stream.cancel();
    await closed;
    expect(ends).toEqual(['cancelled']);
  });

  it('ends the stream when the host aborts', async () => {
    const server = await startServer((response) =>
      sendAnthropic(response, [
        anthropicStart(),
        ...anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Well' }]),
      ]),
    );
    const abort = new AbortController();
    const model = wrapModel(anthropicAt(server.url)('claude-sonnet-4-5'), again);
    const { stream } = await model.doStream({ ...options, abortSignal: abort.signal });
    abort.abort(new Error('Enough.'));
    await expect(read(stream)).rejects.toThrow('Enough.');
    await expect(model.doStream({ ...options, abortSignal: abort.signal })).rejects.toThrow('Enough.');
    expect(server.requests).toHaveLength(1);
  });

  it('cancels the stream of a model that ignores its signal, and drops later parts', async () => {
    let controller: ReadableStreamDefaultController<LanguageModelV4StreamPart> | undefined;
    let onCancelled = (): void => undefined;
    const cancelled = new Promise<void>((resolve) => (onCancelled = resolve));
    const deaf: LanguageModelV4 = {
      ...scripted([]).model,
      doStream: () =>
        Promise.resolve({
          stream: new ReadableStream<LanguageModelV4StreamPart>({
            start: (given) => {
              controller = given;
              given.enqueue({ type: 'text-delta', id: '0', delta: 'Well' });
            },
            cancel: () => onCancelled(),
          }),
        }),
    };
    const { stream } = await wrapModel(deaf, again).doStream(options);
    await stream.cancel();
    await cancelled;
    expect(() => controller?.enqueue({ type: 'text-delta', id: '0', delta: 'more' })).toThrow();
  });

  it('closes a failed stream before the operators decide', async () => {
    let onCancelled = (): void => undefined;
    const cancelled = new Promise<void>((resolve) => (onCancelled = resolve));
    const failing: LanguageModelV4 = {
      ...scripted([]).model,
      doStream: () =>
        Promise.resolve({
          stream: new ReadableStream<LanguageModelV4StreamPart>({
            start: (controller) => controller.enqueue({ type: 'error', error: 'x' }),
            cancel: () => onCancelled(),
          }),
        }),
    };
    const abort = new AbortController();
    const pondering = intercept('pondering', () => ({
      decide: { 'model.error': () => new Promise<undefined>(() => undefined) },
    }));
    const asked = wrapModel(failing, pondering).doStream({ ...options, abortSignal: abort.signal });
    await cancelled;
    abort.abort(new Error('Enough.'));
    await expect(asked).rejects.toThrow('Enough.');
  });

  it('drops later parts of a replaced attempt', async () => {
    const late = said('late');
    const slow: LanguageModelV4 = {
      ...scripted([]).model,
      doStream: ({ abortSignal }) =>
        Promise.resolve({
          stream: new ReadableStream<LanguageModelV4StreamPart>({
            pull: async (controller) => {
              if (!abortSignal?.aborted) {
                await new Promise((resolve) => abortSignal?.addEventListener('abort', resolve));
              }
              for (const part of late) controller.enqueue(part);
            },
          }),
        }),
    };
    const second = scripted([...said('Yes'), finish]);
    let asked = 0;
    const switching: LanguageModelV4 = {
      ...second.model,
      doStream: (given) => {
        asked += 1;
        return asked === 1 ? slow.doStream(given) : second.model.doStream(given);
      },
    };
    expect((await streamed(switching, impatient)).parts).toEqual([...said('Yes'), finish]);
    expect(asked).toBe(2);
  });

  it('drops a stream that opens after its attempt was replaced', async () => {
    const first = scripted([...said('late'), finish]).model;
    const second = scripted([...said('Yes'), finish]).model;
    const opens: (() => void)[] = [];
    const switching: LanguageModelV4 = {
      ...first,
      doStream: async (given) => {
        const model = opens.length === 0 ? first : second;
        await new Promise<void>((resolve) => opens.push(resolve));
        return { ...(await model.doStream(given)), request: { body: model === second } };
      },
    };
    const asked = streamed(switching, impatient);
    await vi.waitUntil(() => opens.length === 2);
    opens[1]?.();
    opens[0]?.();
    const { parts, details } = await asked;
    expect(parts).toEqual([...said('Yes'), finish]);
    expect(details.request).toEqual({ body: true });
  });

  it('waits five seconds at most for operators after one has failed', async () => {
    const ends: string[] = [];
    const slow = intercept('slow', () => ({
      decide: { 'turn.end': () => new Promise<undefined>(() => undefined) },
      finalize: () => void ends.push('finalized'),
    }));
    const broken = intercept('broken', () => ({
      decide: {
        'model.request': () => {
          throw new Error('Oh no.');
        },
      },
    }));
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const rejected = expect(streamed(scripted(whole).model, slow, broken)).rejects.toMatchObject({
      operator: 'broken',
    });
    await vi.advanceTimersByTimeAsync(5_000);
    await rejected;
    expect(ends).toEqual(['finalized']);
  });

  it('preserves reasoning signatures across steps of the host', async () => {
    const server = await startServer((response, _, index) => {
      const thinking = anthropicBlock(0, { type: 'thinking', thinking: '' }, [
        { type: 'thinking_delta', thinking: 'Rome.' },
        { type: 'signature_delta', signature: 'c2ln' },
      ]);
      const use = anthropicBlock(1, { type: 'tool_use', id: 't1', name: 'weather', input: {} }, [
        { type: 'input_json_delta', partial_json: '{"town":"Rome"}' },
      ]);
      const answer = anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Sun.' }]);
      sendAnthropic(response, [
        anthropicStart(),
        ...(index === 0 ? [...thinking, ...use] : answer),
        ...anthropicEnd(index === 0 ? 'tool_use' : 'end_turn'),
      ]);
      response.end();
    });
    const copying = onDelta((event) => ({ ...event, delta: { ...event.delta, text: event.delta.text } }));
    const result = streamText({
      model: wrapModel(anthropicAt(server.url)('claude-sonnet-4-5'), copying),
      prompt: 'hello',
      tools: { weather: tool({ inputSchema: z.object({ town: z.string() }), execute: () => 'sun' }) },
      stopWhen: isStepCount(2),
    });
    expect(await result.text).toBe('Sun.');
    expect(server.requests[1]?.body).toMatchObject({
      messages: [
        {},
        {
          content: [
            { type: 'thinking', thinking: 'Rome.', signature: 'c2ln' },
            { type: 'tool_use', input: { town: 'Rome' } },
          ],
        },
        {},
      ],
    });
  });

  it('reports the name of the wrapped model', () => {
    const { model } = scripted([]);
    expect(wrapModel(model)).toMatchObject({
      specificationVersion: 'v4',
      provider: 'scripted.test',
      modelId: 'scripted-1',
      supportedUrls: model.supportedUrls,
    });
  });
});
