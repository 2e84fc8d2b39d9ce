import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { intercept } from '@h/turn';
import { generateText, simulateReadableStream, streamText, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { answer, usage } from '../test/answers.js';
import { attach } from './attach.js';

const hello = answer({ type: 'text', text: 'Hello.' });
const chunks: LanguageModelV4StreamPart[] = [
  { type: 'text-start', id: '1' },
  { type: 'text-delta', id: '1', delta: 'Hello.' },
  { type: 'text-end', id: '1' },
  { type: 'finish', finishReason: hello.finishReason, usage },
];
const readHello = answer({ type: 'tool-call', toolCallId: '1', toolName: 'read', input: '{}' });
type Given = LanguageModelV4CallOptions;
type Rest = Pick<LanguageModelV4, 'doGenerate' | 'doStream'>;

const attached = (session?: string, read: () => unknown = () => 'text') => {
  const requests: unknown[] = [];
  const operator = intercept('requests', () => ({
    observe: { 'model.request': (event) => void requests.push(event) },
  }));
  const model = new MockLanguageModelV4({
    doGenerate: async () => hello,
    doStream: async () => ({ stream: simulateReadableStream({ chunks }) }),
  });
  const tools = { read: tool({ inputSchema: z.object({}), execute: () => read() }) };
  return { requests, model, settings: attach({ model, tools, ...(session !== undefined && { session }) }, operator) };
};
const chosen = (rest: Partial<Rest>) => new MockLanguageModelV4(rest);

const withoutOptions = ({ providerOptions, ...call }: Given): Given => {
  expect(providerOptions).toBeDefined();
  return call;
};

/** A router whose calls run in the context of an event, which is none of the caller's. */
const queued = (): (<Value>(call: () => PromiseLike<Value>) => Promise<Value>) => {
  const jobs: (() => Promise<void>)[] = [];
  const timer = setInterval(() => void jobs.shift()?.(), 1);
  return async (call) =>
    new Promise((resolve, reject) => {
      jobs.push(async () => {
        await Promise.resolve(call()).then(resolve, reject);
        clearInterval(timer);
      });
    });
};

describe.each([[undefined], ['alice']])('a chosen model that calls the attached one in session %s', (session) => {
  const routers: readonly [string, (inner: Rest) => Partial<Rest>][] = [
    [
      'passes the options on',
      (inner) => ({ doGenerate: (c) => inner.doGenerate(c), doStream: (c) => inner.doStream(c) }),
    ],
    [
      'drops the options',
      (inner) => ({
        doGenerate: (c) => inner.doGenerate(withoutOptions(c)),
        doStream: (c) => inner.doStream(withoutOptions(c)),
      }),
    ],
    [
      'calls it from a queue',
      (inner) => {
        const queue = queued();
        return {
          doGenerate: (c) => queue(() => inner.doGenerate(c)),
          doStream: (c) => queue(() => inner.doStream(c)),
        };
      },
    ],
    [
      'calls it twice',
      (inner) => ({
        doGenerate: async (c) => {
          await inner.doGenerate(withoutOptions(c));
          return inner.doGenerate(withoutOptions(c));
        },
        doStream: async (c) => {
          await inner.doGenerate(withoutOptions(c));
          return inner.doStream(withoutOptions(c));
        },
      }),
    ],
  ];

  it.each(routers)('passes the operators once if it %s', async (_, router) => {
    for (const isStream of [false, true]) {
      const { requests, model, settings } = attached(session);
      const given = { ...settings, model: chosen(router(settings.model)), prompt: 'Hi', maxRetries: 0 };
      expect(await (isStream ? streamText(given).text : generateText(given).then(({ text }) => text))).toBe('Hello.');
      expect(requests).toHaveLength(1);
      for (const call of [...model.doGenerateCalls, ...model.doStreamCalls]) {
        expect(call.providerOptions ?? {}).toEqual({});
      }
    }
  });
});

describe('a call that is not the one of the chosen model', () => {
  it('passes the operators if the chosen model is an agent with the same settings and options', async () => {
    const { requests, settings } = attached();
    const agent = chosen({
      doGenerate: async ({ providerOptions }) => {
        await generateText({ ...settings, prompt: 'Sub', maxRetries: 0, ...(providerOptions && { providerOptions }) });
        return hello;
      },
    });
    await generateText({ ...settings, model: agent, prompt: 'Hi', maxRetries: 0 });
    expect(requests).toHaveLength(2);
  });

  it.each([
    ['with the options', true],
    ['in the context', false],
  ])('passes the operators %s of a chosen model whose call has ended', async (_, isWithOptions) => {
    let options: Given['providerOptions'];
    let start: (() => void) | undefined;
    let sub: Promise<unknown> | undefined;
    const { requests, settings } = attached(undefined, async () => {
      start?.();
      await sub;
      return 'text';
    });
    const call = async () =>
      generateText({
        model: settings.model,
        prompt: 'Sub',
        maxRetries: 0,
        ...(isWithOptions && options && { providerOptions: options }),
      });
    const answers = [readHello, hello];
    const model = chosen({
      doGenerate: async (given) => {
        options ??= given.providerOptions;
        sub ??= new Promise<void>((resolve) => {
          start = resolve;
        }).then(call);
        return answers.shift() ?? hello;
      },
    });
    await generateText({ ...settings, model, prompt: 'Hi', maxRetries: 0 });
    expect(requests).toHaveLength(3);
  });
});
