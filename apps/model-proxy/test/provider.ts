import type { IncomingMessage, ServerResponse } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig, startProxy, type ProxyConfigInput, type ProxyContext, type RunningProxy } from '../src/index.js';
import { bodyOf, serve, type Listening } from './tap.js';

/** A request as a {@link startProvider} received it. */
export interface Received {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A provider whose answers a test writes byte by byte. */
export const startProvider = async (
  answer: (request: Received, outgoing: ServerResponse, incoming: IncomingMessage) => void,
): Promise<Listening & { readonly received: Received[] }> => {
  const received: Received[] = [];
  const listening = await serve((incoming, outgoing) => {
    void bodyOf(incoming).then((bytes) => {
      const text = bytes.toString();
      const body = (text.startsWith('{') ? JSON.parse(text) : {}) as Received['body'];
      const request = { url: incoming.url ?? '', headers: incoming.headers, text, body };
      received.push(request);
      answer(request, outgoing, incoming);
    });
  });
  return { ...listening, received };
};

/** Sends an answer in the format of Anthropic Messages. */
export const sendMessage = (
  outgoing: ServerResponse,
  {
    text = 'Hello.',
    input = 100,
    output = 10,
    content,
  }: {
    readonly text?: string;
    readonly input?: number;
    readonly output?: number;
    readonly content?: readonly unknown[];
  } = {},
): void => {
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.end(
    JSON.stringify({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: content ?? [{ type: 'text', text }],
      stop_reason: content ? 'tool_use' : 'end_turn',
      usage: { input_tokens: input, output_tokens: output },
    }),
  );
};

/** Starts a proxy in front of a provider, with its state in a temporary folder. */
export const proxyFor = async (
  provider: Listening,
  config: ProxyConfigInput = {},
  context: ProxyContext = {},
): Promise<RunningProxy & { readonly folder: string }> => {
  const folder = mkdtempSync(join(tmpdir(), 'model-proxy-'));
  const proxy = await startProxy(
    parseConfig({
      listen: { port: 0 },
      state: join(folder, 'state'),
      ...config,
      anthropic: { url: provider.url, ...config.anthropic },
      openai: { url: provider.url, ...config.openai },
    }),
    context,
  );
  return {
    ...proxy,
    folder,
    close: async () => {
      await proxy.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

/** Sends a message to an Anthropic endpoint. */
export const post = (
  base: string,
  body: unknown,
  {
    path = '/v1/messages',
    headers = {},
    signal,
  }: {
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Response> =>
  fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  });

/** A request to Claude with these messages. */
export const messages = (...entries: readonly unknown[]): Readonly<Record<string, unknown>> => ({
  model: 'claude-opus-4-5',
  max_tokens: 100,
  messages: entries.map((entry) => (typeof entry === 'string' ? { role: 'user', content: entry } : entry)),
});
