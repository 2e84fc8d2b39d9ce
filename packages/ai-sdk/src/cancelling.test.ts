import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ModelDriver, ModelDriverOutput } from '@h/turn';
import { from, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contextFor, countingListeners, requestFor } from '../test/calls.js';
import {
  anthropicAt,
  anthropicBlock,
  anthropicStart,
  openaiAt,
  sendAnthropic,
  sendOpenAI,
  startServer,
} from '../test/servers.js';
import { languageModel } from './language-model.js';

const unhandled: unknown[] = [];
const keep = (reason: unknown): void => void unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on('unhandledRejection', keep);
});
afterEach(() => {
  process.off('unhandledRejection', keep);
  expect(unhandled).toEqual([]);
});

/** Starts a server that sends one word and then stalls, and reports when the client disconnects. */
const hangingServer = async (begin: (response: ServerResponse) => void) => {
  let onGone = (): void => undefined;
  let onAsked = (): void => undefined;
  const gone = new Promise<void>((resolve) => (onGone = resolve));
  const asked = new Promise<void>((resolve) => (onAsked = resolve));
  const server = await startServer((response) => {
    response.on('close', onGone);
    begin(response);
    onAsked();
  });
  return { url: server.url, requests: server.requests, gone, asked };
};

const saysOneWord = (response: ServerResponse): void =>
  sendAnthropic(response, [
    anthropicStart(),
    ...anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Well' }]),
  ]);

const saysOneChunk = (response: ServerResponse): void =>
  sendOpenAI(response, [
    {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta: { content: 'Well' }, finish_reason: null }],
    },
  ]);

const cases: readonly (readonly [string, (url: string) => ModelDriver, (response: ServerResponse) => void])[] = [
  ['Anthropic', (url) => languageModel(anthropicAt(url)('claude-sonnet-4-5')), saysOneWord],
  ['OpenAI chat', (url) => languageModel(openaiAt(url).chat('gpt-4o')), saysOneChunk],
];

/** Subscribes and resolves with the first output. */
const start = (driver: ModelDriver, signal?: AbortSignal) => {
  const outputs: ModelDriverOutput[] = [];
  let subscription: Subscription | undefined;
  const first = new Promise<void>((resolve) => {
    subscription = from(driver(requestFor(), contextFor(signal))).subscribe((output) => {
      outputs.push(output);
      resolve();
    });
  });
  return { outputs, first, subscription: subscription as Subscription };
};

/** Waits until unhandled rejections would be reported. */
const settle = async (): Promise<void> => {
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe.each(cases)('a call of %s that is cancelled', (_, driverAt, begin) => {
  it('closes the connection during the answer, and emits nothing afterwards', async () => {
    const server = await hangingServer(begin);
    const { outputs, first, subscription } = start(driverAt(server.url));
    await first;
    subscription.unsubscribe();
    await server.gone;
    await settle();
    expect(outputs.map(({ type }) => type)).toEqual(['delta']);
  });

  it('closes the connection before the first byte', async () => {
    const server = await hangingServer(() => undefined);
    const { outputs, subscription } = start(driverAt(server.url));
    await server.asked;
    subscription.unsubscribe();
    await server.gone;
    await settle();
    expect(outputs).toEqual([]);
  });

  it('emits one abort error when the signal is aborted, and closes the connection', async () => {
    const server = await hangingServer(begin);
    const abort = new AbortController();
    const { outputs, first, subscription } = start(driverAt(server.url), abort.signal);
    await first;
    abort.abort(new Error('The user went home.'));
    expect(subscription.closed).toBe(true);
    await server.gone;
    await settle();
    expect(outputs.slice(1)).toEqual([
      {
        type: 'error',
        error: {
          name: 'AbortError',
          code: 'aborted',
          message: 'The model call was cancelled.',
          cause: { name: 'Error', message: 'The user went home.' },
        },
      },
    ]);
  });

  it('sends no request if the signal is already aborted', async () => {
    const server = await hangingServer(begin);
    const { outputs } = start(driverAt(server.url), AbortSignal.abort());
    await settle();
    const error = { name: 'AbortError', code: 'aborted', message: 'The model call was cancelled.' };
    expect(outputs).toEqual([{ type: 'error', error }]);
    expect(server.requests).toEqual([]);
  });

  it('leaves no listener on a long-lived signal', async () => {
    const server = await startServer((response) => void response.writeHead(500).end());
    const abort = new AbortController();
    const { signal, count } = countingListeners(abort.signal);
    const { first } = start(driverAt(server.url), signal);
    await first;
    expect(count()).toBe(0);
  });
});

/** A model that ignores its signal. */
const deafModel = (
  stream: ReadableStream<LanguageModelV4StreamPart>,
  ready: Promise<void> = Promise.resolve(),
): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'deaf',
  modelId: 'deaf-1',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('Only streams are used.')),
  doStream: async () => {
    await ready;
    return { stream };
  },
});

describe('a model that ignores its signal', () => {
  const watched = () => {
    const target = new EventTarget();
    const cancelled = once(target, 'cancel');
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start: (controller) => controller.enqueue({ type: 'text-delta', id: '0', delta: 'Well' }),
      cancel: () => void target.dispatchEvent(new Event('cancel')),
    });
    return { stream, cancelled };
  };

  it('has its stream cancelled', async () => {
    const { stream, cancelled } = watched();
    const { first, subscription } = start(languageModel(deafModel(stream)));
    await first;
    subscription.unsubscribe();
    await cancelled;
    await settle();
  });

  it('has a late stream cancelled', async () => {
    const { stream, cancelled } = watched();
    let open = (): void => undefined;
    const { outputs, subscription } = start(
      languageModel(deafModel(stream, new Promise((resolve) => (open = resolve)))),
    );
    await settle();
    subscription.unsubscribe();
    open();
    await cancelled;
    await settle();
    expect(outputs).toEqual([]);
  });

  it('is not called if resolve() settles after the cancellation', async () => {
    const { stream } = watched();
    let answer: (model: LanguageModelV4) => void = () => undefined;
    const model = deafModel(stream);
    let calls = 0;
    const counted: LanguageModelV4 = { ...model, doStream: (options) => ((calls += 1), model.doStream(options)) };
    const { subscription } = start(
      languageModel({ resolve: () => new Promise<LanguageModelV4>((resolve) => (answer = resolve)) }),
    );
    subscription.unsubscribe();
    answer(counted);
    await settle();
    expect(calls).toBe(0);
  });
});
