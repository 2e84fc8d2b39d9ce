import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { LLMock, type MockServerOptions } from '@copilotkit/aimock';
import { onTestFinished } from 'vitest';

/** A key that must never turn up anywhere. */
export const secretKey = 'sk-test-0123456789abcdefghijklmnop';

export const anthropicAt = (url: string) => createAnthropic({ baseURL: `${url}/v1`, apiKey: secretKey });
export const openaiAt = (url: string) => createOpenAI({ baseURL: `${url}/v1`, apiKey: secretKey });

/** aimock on loopback, for the length of the test. */
export const startMock = async (options: MockServerOptions = {}): Promise<LLMock> => {
  const mock = new LLMock({ port: 0, ...options });
  await mock.start();
  onTestFinished(() => mock.stop());
  return mock;
};

export interface WireRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export interface WireServer {
  readonly url: string;
  /** What came in, as it came. */
  readonly requests: WireRequest[];
}

/** A server that answers as the test says and keeps what it was sent, for the length of the test. */
export const startServer = async (
  answer: (response: ServerResponse, request: WireRequest, index: number) => void | Promise<void>,
): Promise<WireServer> => {
  const requests: WireRequest[] = [];
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const request = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: JSON.parse(body) as Record<string, unknown>,
      };
      requests.push(request);
      return answer(response, request, requests.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
};

/** Begins an event stream and sends events in Anthropic's wire format. */
export const sendAnthropic = (
  response: ServerResponse,
  events: readonly ({ readonly type: string } & Record<string, unknown>)[],
): void => {
  if (!response.headersSent) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'set-cookie': 'session=1', 'x-region': 'here' });
  }
  for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
};

export const sendOpenAI = (response: ServerResponse, chunks: readonly Record<string, unknown>[]): void => {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
};

type Block = { readonly type: string } & Record<string, unknown>;

/** Anthropic's events of one content block: what it starts with, and its deltas. */
export const anthropicBlock = (index: number, block: Block, deltas: readonly Block[]) => [
  { type: 'content_block_start', index, content_block: block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];

export const anthropicStart = (usage: Record<string, number> = { input_tokens: 10, output_tokens: 1 }) => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [],
    stop_reason: null,
    usage,
  },
});

export const anthropicEnd = (stopReason = 'end_turn', usage: Record<string, unknown> = { output_tokens: 5 }) => [
  { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
  { type: 'message_stop' },
];
