import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder, startCoder } from './coder-process.js';
import { startModelServer, type Answer } from './model-server.js';

const limited = (retryAfter: number): Answer => ({
  error: { message: 'Too many requests.', type: 'rate_limit_error' },
  status: 429,
  retryAfter,
});

const wordsFor = async (url: string): Promise<readonly string[]> => [
  '--model',
  'anthropic/x',
  '--base-url',
  `${url}/v1`,
  '--workspace',
  temporaryFolder(),
  'Hi',
];

const environment = { ANTHROPIC_API_KEY: 'k' };

describe('a provider that is limited', () => {
  it('is asked again after the time that it says, and the app says so', async () => {
    const answers = [limited(2), limited(2), 'Hello.'];
    const askedAt: number[] = [];
    const server = await startModelServer(() => answers[askedAt.push(Date.now()) - 1] ?? 'Too many requests.');
    const { code, stdout } = await runCoder({ words: await wordsFor(server.url), environment });
    expect(stdout.match(/rate-limit: waiting [\d.]+ m?s for anthropic\/x/g)).toHaveLength(2);
    const waits = askedAt.slice(1).map((at, index) => at - (askedAt[index] ?? 0));
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(2_000);
    expect(stdout).toMatch(/^Hello\.$/m);
    expect(code).toBe(0);
    expect(server.requests).toHaveLength(3);
  });
});

describe('a provider that cannot be reached', () => {
  it('is tried again when its first connection is broken', async () => {
    const server = await startModelServer(['Hello.']);
    const target = Number(new URL(server.url).port);
    let connections = 0;
    const proxy = createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      if (connections === 1) {
        // A socket that is closed before the request is sent can hang the first fetch() of Node 20.
        socket.once('data', () => socket.destroy());
        return;
      }
      const forwarded = connect(target, '127.0.0.1').on('error', () => socket.destroy());
      socket.pipe(forwarded).pipe(socket);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void proxy.close());
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const { code, stdout } = await runCoder({ words: await wordsFor(`http://127.0.0.1:${port}`), environment });
    expect(stdout).toMatch(/^Hello\.$/m);
    expect(code).toBe(0);
    expect(connections).toBeGreaterThan(1);
  });

  it('is tried again when nothing listened at first', async () => {
    const server = await startModelServer(['Hello.']);
    const target = Number(new URL(server.url).port);
    const proxy = createServer((socket) => {
      const forwarded = connect(target, '127.0.0.1').on('error', () => socket.destroy());
      socket.on('error', () => undefined);
      socket.pipe(forwarded).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    proxy.close();
    await once(proxy, 'close');
    const coder = startCoder({ words: await wordsFor(`http://127.0.0.1:${port}`), environment });
    await coder.said('retrying in');
    proxy.listen(port, '127.0.0.1');
    onTestFinished(() => void proxy.close());
    const { code, stdout } = await coder.finished;
    expect(stdout).toMatch(/^Hello\.$/m);
    expect(code).toBe(0);
  });
});
