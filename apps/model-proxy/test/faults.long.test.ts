import fs, { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseConfig, startProxy, type RunningProxy } from '../src/index.js';
import { messages, post, proxyFor, sendMessage, startProvider } from './provider.js';
import type { Listening } from './tap.js';

type Sync = (...given: never[]) => unknown;

/** Replaces a synchronous file operation for files of the usage until the test has finished. */
const replace = (name: 'openSync' | 'writeSync', create: (real: Sync) => Sync): void => {
  const target = fs as unknown as Record<string, Sync>;
  const real = target[name] as Sync;
  target[name] = create(real);
  syncBuiltinESMExports();
  onTestFinished(() => {
    target[name] = real;
    syncBuiltinESMExports();
  });
};

const diskFull = (): Error => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });

/** Opens proxies one after the other with the same state. */
const stateOf = async (): Promise<{ open(limit?: number, now?: () => number): Promise<RunningProxy> }> => {
  const provider = await startProvider((_, outgoing) => sendMessage(outgoing, { input: 90_000, output: 10_000 }));
  const state = mkdtempSync(join(tmpdir(), 'model-proxy-faults-'));
  onTestFinished(async () => {
    await provider.close();
    rmSync(state, { recursive: true, force: true });
  });
  return {
    open: (tokens = 100_000_000, now = Date.now) =>
      startProxy(
        parseConfig({ listen: { port: 0 }, state, anthropic: { url: provider.url }, budgets: { day: { tokens } } }),
        { now },
      ),
  };
};

const statusOf = async (proxy: RunningProxy, text: string): Promise<number> => {
  const { status } = await post(proxy.url, messages(text));
  return status;
};

/** The tokens that a proxy has counted today. */
const countedBy = async (proxy: RunningProxy): Promise<number> => {
  const refused = await post(proxy.url, messages('refused'));
  return Number(/has used (\d+) of/.exec((await refused.text()).replaceAll(' tokens', ''))?.[1]);
};

describe('the usage on a full disk', () => {
  it.each(['before', 'torn', 'after'] as const)('counts every answered call after a restart: %s', async (when) => {
    vi.spyOn(process, 'emitWarning').mockReturnValue();
    let count = 0;
    let failing = 0;
    replace('writeSync', (real) => (...given: never[]) => {
      const [file, bytes] = given as unknown as [number, Buffer];
      if (!bytes.toString().includes('{"type":"')) return real(...given);
      count += 1;
      if (count !== failing && !(when === 'torn' && count === failing + 1)) return real(...given);
      // A full disk accepts a part, and fails the write of the rest.
      if (when === 'torn' && count === failing) return real(...([file, bytes.subarray(0, 20)] as unknown as never[]));
      if (when === 'after') real(...given);
      throw diskFull();
    });
    for (failing = 1; failing <= 9; failing += 1) {
      const state = await stateOf();
      count = 0;
      const proxy = await state.open();
      let answered = 0;
      for (const text of ['a', 'b', 'c', 'd']) if ((await statusOf(proxy, text)) === 200) answered += 1;
      expect(answered).toBeGreaterThanOrEqual(3);
      await proxy.close();
      const restarted = await state.open(1);
      const counted = await countedBy(restarted);
      await restarted.close();
      // The first write is a snapshot, then each call has two. Of a call without its end, the estimate is known.
      const hasLostEnd = when !== 'after' && failing > 1 && failing % 2 === 1;
      const least = (hasLostEnd ? answered - 1 : answered) * 100_000;
      expect(counted, `write ${failing}`).toBeGreaterThanOrEqual(least);
      expect(counted, `write ${failing}`).toBeLessThan(least + 100_000);
    }
  });

  it('is recorded again when a day has begun without space', async () => {
    let isFull = false;
    replace('openSync', (real) => (...given: never[]) => {
      if (isFull && String(given[0]).includes('usage-')) throw diskFull();
      return real(...given);
    });
    let now = Date.parse('2026-11-28T23:59:00Z');
    const proxy = await (await stateOf()).open(undefined, () => now);
    expect(await statusOf(proxy, 'a')).toBe(200);
    now += 120_000;
    isFull = true;
    expect(await statusOf(proxy, 'b')).toBe(503);
    isFull = false;
    expect(await statusOf(proxy, 'c')).toBe(200);
    await proxy.close();
  });
});

const answerText = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-5',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 100, output_tokens: 10 },
});

describe('a provider that breaks connections', () => {
  it('answers although all idle connections were dropped', async () => {
    // Each connection answers once, late enough that parallel calls do not share one.
    const server = createServer((socket) => {
      let isUsed = false;
      socket.on('error', () => undefined);
      socket.on('data', () => {
        if (isUsed) return void socket.resetAndDestroy();
        isUsed = true;
        const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${answerText.length}\r\n\r\n`;
        setTimeout(() => socket.write(head + answerText), 50);
        return undefined;
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const proxy = await proxyFor({ url } as Listening);
    expect(await Promise.all(['a', 'b', 'c'].map((text) => statusOf(proxy, text)))).toEqual([200, 200, 200]);
    expect(await statusOf(proxy, 'd')).toBe(200);
    await proxy.close();
    server.close();
  });

  it('causes a failure that may be repeated, at whichever byte it breaks one off', async () => {
    const body = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    let bytes = 0;
    const provider = await startProvider((_, outgoing) => {
      outgoing.writeHead(529, { 'content-type': 'application/json', 'content-length': body.length });
      outgoing.write(body.slice(0, bytes), () => setImmediate(() => outgoing.destroy()));
    });
    const headers = { 'x-api-key': 'sk-ant-api03-0123456789' };
    const proxy = await proxyFor(provider, { anthropic: { models: ['claude-sonnet-4-5'] } });
    for (bytes = 1; bytes < body.length; bytes += 1) {
      const answer = await post(proxy.url, messages('a'), { headers });
      expect([answer.status, answer.headers.get('x-should-retry')], `byte ${bytes}`).toEqual([502, 'true']);
      expect(await answer.text()).not.toContain('sk-ant');
    }
    // Each call asked both models.
    expect(provider.received).toHaveLength(2 * (body.length - 1));
    await proxy.close();
    await provider.close();
  });

  it('is asked once for a stream, counted once, at whichever byte the stream breaks', async () => {
    const events = [
      { type: 'message_start', message: { ...JSON.parse(answerText), content: [], stop_reason: null } as object },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hällo' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ];
    const stream = Buffer.from(
      events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
    );
    let bytes = 0;
    const provider = await startProvider((_, outgoing) => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write(stream.subarray(0, bytes), () => setTimeout(() => outgoing.destroy(), 2));
    });
    const proxy = await proxyFor(provider, { anthropic: { models: ['claude-sonnet-4-5'] } });
    for (bytes = 1; bytes <= stream.length; bytes += 1) {
      const answer = await post(proxy.url, { ...messages(`${bytes}`), stream: true });
      const received: Uint8Array[] = [];
      const reading = (async () => {
        for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) received.push(chunk);
      })();
      await expect(reading, `byte ${bytes}`).rejects.toThrow('terminated');
      expect(Buffer.concat(received).equals(stream.subarray(0, bytes)), `byte ${bytes}`).toBe(true);
      expect(provider.received).toHaveLength(bytes);
    }
    const metrics = await (await fetch(`${proxy.url}/_h/metrics`)).text();
    const counts = [...metrics.matchAll(/^h_proxy_requests_total\{[^}]*\} (\d+)$/gm)].map(([, value]) => Number(value));
    expect(counts.reduce((sum, value) => sum + value, 0)).toBe(stream.length);
    await proxy.close();
    await provider.close();
  });
});
