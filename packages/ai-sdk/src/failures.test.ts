import { MessageList, type ModelDriver } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { errorIn, outputsOf, requestFor, streamedText } from '../test/calls.js';
import {
  anthropicAt,
  anthropicBlock,
  anthropicEnd,
  anthropicStart,
  openaiAt,
  secretKey,
  sendAnthropic,
  sendOpenAI,
  startMock,
  startServer,
} from '../test/servers.js';
import { languageModel } from './language-model.js';

const providers: readonly (readonly [string, (url: string) => ModelDriver])[] = [
  ['Anthropic', (url) => languageModel(anthropicAt(url)('claude-sonnet-4-5'))],
  ['OpenAI chat', (url) => languageModel(openaiAt(url).chat('gpt-4o'))],
  ['OpenAI responses', (url) => languageModel(openaiAt(url).responses('gpt-5'))],
];

const closedPort = async (): Promise<string> => {
  const { createServer } = await import('node:http');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
};

describe.each(providers)('a failing call with %s', (_, driverAt) => {
  it.each([
    [400, 'invalid_request_error', 'prompt is too long: 250000 tokens > 200000 maximum'],
    [401, 'authentication_error', 'invalid key'],
    [429, 'rate_limit_error', 'Slow down.'],
    [529, 'overloaded_error', 'Overloaded'],
  ])('emits an error with the status %s, code and body, without a retry', async (status, type, message) => {
    const mock = await startMock();
    mock.onMessage('hello', { error: { message, type }, status, retryAfter: 17 });
    const { error, usage } = errorIn(await outputsOf(driverAt(mock.url)));
    expect(error).toMatchObject({ status, code: type, message, body: { error: { type, message } } });
    expect(error.headers?.['retry-after']).toBe(status === 429 ? '17' : undefined);
    expect(usage).toBeUndefined();
    expect(mock.getRequests()).toHaveLength(1);
    expect(JSON.parse(JSON.stringify(error))).toEqual(error);
    expect(JSON.stringify(error)).not.toContain('hello');
  });

  it('emits an error if the connection closes during the answer', async () => {
    const mock = await startMock({ chunkSize: 4 });
    mock.onMessage('hello', { content: 'A long and winding answer.' }, { truncateAfterChunks: 6, latency: 10 });
    const outputs = await outputsOf(driverAt(mock.url));
    expect(streamedText(outputs).length).toBeGreaterThan(0);
    expect(errorIn(outputs).error.code).toMatch(/^(UND_ERR_SOCKET|ECONNRESET|incomplete-stream)$/);
  });

  it('emits an error with the network code if the server is unreachable', async () => {
    const { error } = errorIn(await outputsOf(driverAt(await closedPort())));
    expect(error).toMatchObject({ code: 'ECONNREFUSED', cause: { code: 'ECONNREFUSED' } });
    expect(error.status).toBeUndefined();
  });

  it('emits an error for an answer in an unknown format', async () => {
    const server = await startServer(
      (response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
    );
    expect(errorIn(await outputsOf(driverAt(server.url))).error).toMatchObject({
      status: 502,
      body: '<h1>Bad gateway</h1>',
    });
  });

  it('removes cookies, and keys that the server quotes', async () => {
    const body = {
      type: 'error',
      error: { type: 'authentication_error', message: `Incorrect API key provided: ${secretKey}.` },
    };
    const server = await startServer((response) => {
      response.writeHead(401, {
        'content-type': 'application/json',
        'set-cookie': 'session=abc',
        authorization: `Bearer ${secretKey}`,
        'x-region': 'here',
      });
      response.end(JSON.stringify(body));
    });
    const { error } = errorIn(await outputsOf(driverAt(server.url)));
    expect(JSON.stringify(error)).not.toContain(secretKey);
    expect(error.message).toContain('Incorrect API key provided: [redacted]');
    expect(error.headers).toMatchObject({ 'x-region': 'here' });
    expect(error.headers).not.toHaveProperty('set-cookie');
    expect(error.headers).not.toHaveProperty('authorization');
  });
});

describe('a key that is not a valid header value', () => {
  it('does not appear in the error', async () => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    const model = createAnthropic({ apiKey: 'my-own-key\nwith a break', baseURL: 'http://127.0.0.1:9/v1' })(
      'claude-sonnet-4-5',
    );
    const { error } = errorIn(await outputsOf(languageModel(model)));
    expect(error.message).toMatch(/invalid header value/);
    expect(JSON.stringify(error)).not.toContain('my-own-key');
  });
});

describe('a failing stream', () => {
  const said = anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Well, ' }]).slice(0, 2);

  it('emits an error that Anthropic sends during the answer', async () => {
    const server = await startServer((response) => {
      sendAnthropic(response, [
        anthropicStart(),
        ...said,
        { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      ]);
      response.end();
    });
    const outputs = await outputsOf(languageModel(anthropicAt(server.url)('claude-sonnet-4-5')));
    expect(streamedText(outputs)).toBe('Well, ');
    expect(errorIn(outputs).error).toEqual({
      name: 'StreamError',
      message: 'Overloaded',
      code: 'overloaded_error',
      status: 529,
      body: { type: 'overloaded_error', message: 'Overloaded' },
    });
  });

  it('emits an error that Anthropic sends as the only event', async () => {
    const server = await startServer((response) => {
      sendAnthropic(response, [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]);
      response.end();
    });
    const { error } = errorIn(await outputsOf(languageModel(anthropicAt(server.url)('claude-sonnet-4-5'))));
    expect(error).toMatchObject({ status: 529, code: 'overloaded_error', headers: { 'x-region': 'here' } });
    expect(error.headers).not.toHaveProperty('set-cookie');
  });

  it('emits an error that OpenAI sends during the answer', async () => {
    const server = await startServer((response) => {
      sendOpenAI(response, [
        {
          id: 'c',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          choices: [{ index: 0, delta: { content: 'Well, ' }, finish_reason: null }],
        },
        {
          error: { message: 'The server had an error.', type: 'server_error', code: 'insufficient_quota', param: null },
        },
      ]);
      response.end('data: [DONE]\n\n');
    });
    const outputs = await outputsOf(languageModel(openaiAt(server.url).chat('gpt-4o')));
    expect(streamedText(outputs)).toBe('Well, ');
    expect(errorIn(outputs).error).toMatchObject({
      message: 'The server had an error.',
      code: 'insufficient_quota',
      status: 429,
    });
  });

  it('emits an error if the response of OpenAI has failed', async () => {
    const server = await startServer((response) => {
      sendOpenAI(response, [
        { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5' } },
        { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1', phase: null } },
        { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Well, ' },
        {
          type: 'response.failed',
          sequence_number: 3,
          response: { error: { code: 'server_error', message: 'It broke.' }, usage: null },
        },
      ]);
      response.end();
    });
    const outputs = await outputsOf(languageModel(openaiAt(server.url).responses('gpt-5')));
    expect(errorIn(outputs).error).toMatchObject({ message: 'It broke.', code: 'server_error', status: 500 });
  });

  it.each([
    ['has said something', [anthropicStart(), ...said]],
    ['has said nothing', [anthropicStart()]],
    [
      'has asked for a tool',
      [anthropicStart(), ...anthropicBlock(0, { type: 'tool_use', id: 't', name: 'weather', input: {} }, [])],
    ],
  ])('emits an error if the stream closes after the model %s, before its end event', async (__, events) => {
    const server = await startServer((response) => {
      sendAnthropic(response, events);
      response.end();
    });
    const outputs = await outputsOf(languageModel(anthropicAt(server.url)('claude-sonnet-4-5')));
    expect(errorIn(outputs).error.code).toBe('incomplete-stream');
  });

  it('emits an error if OpenAI omits the finish reason', async () => {
    const server = await startServer((response) => {
      sendOpenAI(response, [
        {
          id: 'c',
          object: 'chat.completion.chunk',
          created: 1,
          model: 'm',
          choices: [{ index: 0, delta: { content: 'Well, ' }, finish_reason: null }],
        },
      ]);
      response.end();
    });
    expect(errorIn(await outputsOf(languageModel(openaiAt(server.url).chat('gpt-4o')))).error.code).toBe(
      'incomplete-stream',
    );
  });

  it('emits an error if an event is not JSON', async () => {
    const server = await startServer((response) => {
      sendAnthropic(response, [anthropicStart(), ...said]);
      response.end('event: content_block_delta\ndata: {"type":"content_bl\n\n');
    });
    const outputs = await outputsOf(languageModel(anthropicAt(server.url)('claude-sonnet-4-5')));
    expect(errorIn(outputs).error.name).toMatch(/JSONParse/);
  });

  it('truncates a long body with a marker', async () => {
    const server = await startServer((response) => void response.writeHead(500).end('x'.repeat(40_000)));
    const { body } = errorIn(await outputsOf(languageModel(openaiAt(server.url).chat('gpt-4o')))).error;
    expect(body).toBe(`${'x'.repeat(16_384)} [… ${40_000 - 16_384} more characters]`);
  });
});

describe('a call that cannot be made', () => {
  it('emits an error with the position of an invalid message, without a request', async () => {
    const server = await startServer((response) => void response.end());
    const messages = MessageList.of([
      { role: 'user', content: 'hello' },
      { role: 'user', content: [{ type: 'file', data: { type: 'nonsense' } as never, mediaType: 'image/png' }] },
    ]);
    const { error } = errorIn(
      await outputsOf(languageModel(openaiAt(server.url).chat('gpt-4o')), requestFor({ messages })),
    );
    expect(error).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('messages[1]') as string });
    expect(server.requests).toEqual([]);
  });

  it('emits an error if resolve() throws, rejects or returns no model', async () => {
    const failing = (resolve: () => never) => outputsOf(languageModel({ resolve }));
    const broken = () => {
      throw Object.assign(new Error('No such credential.'), { code: 'no-credential' });
    };
    expect(errorIn(await failing(broken)).error).toMatchObject({
      code: 'no-credential',
      message: 'No such credential.',
    });
    expect(errorIn(await failing((() => Promise.reject(new Error('Vault is shut.'))) as never)).error.message).toBe(
      'Vault is shut.',
    );
    expect(errorIn(await failing((() => 'openai/gpt-5') as never)).error).toMatchObject({
      code: 'unknown-model',
      message: expect.stringContaining('"openai/gpt-5"') as string,
    });
  });

  it('emits an error if a fixed model receives another model name or a credential', async () => {
    const server = await startServer((response) => {
      sendAnthropic(response, [anthropicStart(), ...anthropicEnd()]);
      response.end();
    });
    const driver = languageModel(anthropicAt(server.url)('claude-sonnet-4-5'));
    expect(errorIn(await outputsOf(driver, requestFor({ model: 'claude-opus-4-5' }))).error.code).toBe('unknown-model');
    expect(errorIn(await outputsOf(driver, requestFor({ credential: 'spare' }))).error.code).toBe('unknown-credential');
    expect(server.requests).toHaveLength(0);
    for (const model of ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4-5']) {
      await outputsOf(driver, requestFor({ model }));
    }
    expect(server.requests).toHaveLength(2);
  });

  it('throws for an argument that is not a model', () => {
    expect(() => languageModel('openai/gpt-5' as never)).toThrow(/makes? a model|the string "openai\/gpt-5"/);
    expect(() => languageModel({} as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }));
    expect(() => languageModel({ resolve: () => 0 as never, retries: 2 } as never)).toThrow(/"retries"/);
  });
});
