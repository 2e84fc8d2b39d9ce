import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { parseConfig, startProxy } from '../src/index.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).toReversed()) await close();
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Memory of objects and buffers that are reachable. */
const reachable = async (): Promise<number> => {
  // The memory of buffers is released by a task after the collection.
  for (let round = 0; round < 3; round += 1) {
    collect();
    await setImmediate();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

const streams = 16;
const chars = 1_000_000;

describe('memory', () => {
  it.each(['/v1/messages', '/v1/chat/completions', '/v1/responses'])(
    'does not retain conversations while their answers stream: %s',
    async (path) => {
      const open = new Set<ServerResponse>();
      const provider = createServer((incoming, outgoing) => {
        incoming.resume().once('end', () => {
          open.add(outgoing);
          outgoing.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n');
        });
      });
      await once(provider.listen(0, '127.0.0.1'), 'listening');
      cleanups.push(() => void provider.close());
      const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
      const state = mkdtempSync(join(tmpdir(), 'model-proxy-memory-'));
      cleanups.push(() => rmSync(state, { recursive: true, force: true }));
      const proxy = await startProxy(parseConfig({ listen: { port: 0 }, state, anthropic: { url }, openai: { url } }));
      cleanups.push(() => proxy.close());
      const member = path === '/v1/responses' ? 'input' : 'messages';
      const send = (index: number): Promise<IncomingMessage> =>
        new Promise((resolve, reject) => {
          const sent = request(`${proxy.url}${path}`, { method: 'POST', agent: false });
          sent.once('error', reject);
          sent.once('response', (answer) => answer.once('data', () => resolve(answer)));
          const content = `${index} `.padEnd(chars, 'words of a conversation ');
          sent.end(JSON.stringify({ model: 'm', stream: true, [member]: [{ role: 'user', content }] }));
        });
      (await send(-1)).destroy();
      const before = await reachable();
      const answers: IncomingMessage[] = [];
      for (let index = 0; index < streams; index += 1) answers.push(await send(index));
      // Each request is read as bytes, as text and as JSON: three times its length.
      expect((await reachable()) - before).toBeLessThan((streams * chars) / 2);
      for (const outgoing of open) outgoing.end();
      for (const answer of answers) answer.destroy();
    },
  );
});
