import { once } from 'node:events';
import diagnostics from 'node:diagnostics_channel';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LLMock } from '@copilotkit/aimock';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createKey, parseConfig, startProxy, type ProxyConfigInput, type RunningProxy } from '../src/index.js';

const cleanups: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).toReversed()) await close();
});

/** Requests that begin, as the channel of Node reports them. */
interface Begun {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly socket: Socket;
}

/** Answers of the proxy that stay in its memory, as if the client read nothing and the kernel had no more space. */
let answers: ServerResponse[];
beforeEach(() => {
  answers = [];
  const onRequest = (message: unknown): void => {
    const { request: incoming, response, socket } = message as Begun;
    // The proxy forwards the header to the provider, which is in this process too.
    if (incoming.headers['x-stalls'] === undefined || answers.length > 0) return;
    Object.assign(socket, { _write: () => undefined, _writev: () => undefined });
    answers.push(response);
  };
  diagnostics.subscribe('http.server.request.start', onRequest);
  cleanups.push(() => void diagnostics.unsubscribe('http.server.request.start', onRequest));
});

interface Opened {
  readonly proxy: RunningProxy;
  /** Sends a request whose answer waits in the memory of the proxy. */
  readonly send: (call: Call, words: number) => ClientRequest;
  /** How the answers were delivered, from the log. */
  readonly deliveries: () => readonly unknown[];
}

const open = async (more: ProxyConfigInput): Promise<Opened> => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  mock.on({ model: 'down' }, { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 });
  mock.on({ predicate: () => true }, ({ messages: all }) => ({
    content: 'Sun. '.repeat(Number(/\d+/.exec(JSON.stringify(all.at(-1)?.content))?.[0])),
  }));
  const url = await mock.start();
  cleanups.push(() => mock.stop());
  const folder = mkdtempSync(join(tmpdir(), 'model-proxy-stalled-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  const log = join(folder, 'calls.jsonl');
  const keys = [{ id: 'one', env: 'KEY' }];
  const models = [{ provider: 'openai' as const, model: 'gpt-4o', api: 'chat' as const }];
  const { key, keyHash } = createKey();
  const proxy = await startProxy(
    parseConfig({
      listen: { port: 0 },
      state: join(folder, 'state'),
      log,
      clients: [{ name: 'alice', keyHash }],
      openai: { url, keys },
      anthropic: { url, keys, models },
      ...more,
    }),
    { env: { KEY: 'sk-x' } },
  );
  return {
    proxy,
    send: ({ path, model, stream }, words) => {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'x-stalls': 'yes' };
      const sent = request(proxy.url + path, { method: 'POST', agent: false, headers });
      sent.on('error', () => undefined);
      cleanups.push(() => void sent.destroy());
      sent.end(
        JSON.stringify({ model, stream, max_tokens: 100, messages: [{ role: 'user', content: String(words) }] }),
      );
      return sent;
    },
    deliveries: () =>
      readFileSync(log, { encoding: 'utf8', flag: 'a+' })
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { readonly delivery: unknown }).delivery),
  };
};

interface Call {
  readonly path: string;
  readonly model: string;
  readonly stream: boolean;
}

const calls: readonly (readonly [string, Call])[] = [
  ['an answer', { path: '/v1/chat/completions', model: 'gpt-4o', stream: false }],
  ['a stream', { path: '/v1/chat/completions', model: 'gpt-4o', stream: true }],
  ['a converted answer', { path: '/v1/messages', model: 'down', stream: false }],
  ['a converted stream', { path: '/v1/messages', model: 'down', stream: true }],
];

/** An answer that has ended, those of which a part waits in each of the buffers on its way, and one that is too long. */
const lengths = [1, 4_000, 8_000, 14_000, 20_000, 100_000];
const cases = calls.flatMap(([name, call]) => lengths.map((words) => [name, words, call] as const));

/** The time limit of polls, for busy machines. */
const eventually = { timeout: 15_000 };

/** Resolves when the proxy cannot continue without the client. */
const stalled = async (): Promise<void> => {
  await vi.waitFor(() => {
    const [answer] = answers;
    expect(answer?.writableEnded === true || answer?.writableNeedDrain === true).toBe(true);
  }, eventually);
  // The rest of the answer arrives.
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
};

describe('a client that reads nothing of', () => {
  it.each(cases)('%s of %d words does not delay the end of the proxy', async (_, words, call) => {
    const { proxy, send, deliveries } = await open({});
    send(call, words);
    await stalled();
    const ended = await Promise.race([
      proxy.close().then(() => 'closed'),
      new Promise((resolve) => {
        setTimeout(resolve, 2_000, 'waits for the client');
      }),
    ]);
    for (const answer of answers) answer.destroy();
    expect(ended).toBe('closed');
    expect(deliveries()).toHaveLength(1);
  });

  it.each(cases)('%s of %d words is disconnected after the longest pause', async (_, words, call) => {
    const { proxy, send, deliveries } = await open({ timeouts: { idleMs: 300 } });
    cleanups.push(() => proxy.close());
    const left = once(send(call, words), 'close').catch(() => undefined);
    await stalled();
    await left;
    await vi.waitFor(() => expect(deliveries()).toEqual(['client-left']), eventually);
  });
});
