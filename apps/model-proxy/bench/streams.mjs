/**
 * Measures what the proxy adds to the first byte of an answer with 200 streams at once, and its memory.
 *
 * Client, proxy and provider are separate processes. Direct and proxied rounds alternate, so that both see the same
 * load. Usage: `node bench/streams.mjs [rounds]` after a build.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const streams = 200;
const rounds = Number(process.argv[2]) || 3;
const chunks = 40;
const chunkMs = 100;
/** Time between the starts of two streams, so that 200 of them run at once. */
const startMs = 10;
const file = fileURLToPath(import.meta.url);

const provider = () => {
  const delta = JSON.stringify({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: 'some text ' },
  });
  const start = JSON.stringify({
    type: 'message_start',
    message: { id: 'm', usage: { input_tokens: 9, output_tokens: 1 } },
  });
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    incoming.once('end', () => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.write(`event: message_start\ndata: ${start}\n\n`);
      let sent = 0;
      const timer = setInterval(() => {
        sent += 1;
        if (sent <= chunks) return outgoing.write(`event: content_block_delta\ndata: ${delta}\n\n`);
        clearInterval(timer);
        outgoing.end('event: message_stop\ndata: {"type":"message_stop"}\n\n');
      }, chunkMs);
    });
  });
  server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
};

const proxy = async () => {
  const { parseConfig, startProxy } = await import('../dist/index.js');
  const state = mkdtempSync(join(tmpdir(), 'model-proxy-bench-'));
  const running = await startProxy(
    parseConfig({
      listen: { port: 0 },
      anthropic: { url: process.argv[3] },
      state,
      budgets: { day: { tokens: 1e12 } },
    }),
  );
  process.send(running.url);
  const end = async () => {
    await running.close();
    rmSync(state, { recursive: true, force: true });
    process.disconnect();
  };
  process.on('message', (message) => {
    if (message !== 'memory') {
      void end();
      return;
    }
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    process.send({ heapUsed, rss });
  });
};

const start = async (role, ...values) => {
  const child = fork(file, [role, ...values], { execArgv: ['--expose-gc'] });
  const [url] = await once(child, 'message');
  return { child, url };
};

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
const history = Array.from({ length: 20 }, (_, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content: `Message ${index}. ${'Some words of a conversation. '.repeat(30)}`,
}));

/** Returns the time to the first byte of the body, in milliseconds. */
const call = (base, index) =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({
      model: 'claude-opus-4-5',
      max_tokens: 100,
      stream: true,
      messages: [...history, { role: 'user', content: `Stream ${index}` }],
    });
    const begin = performance.now();
    let first;
    const sent = request(`${base}/v1/messages`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json' },
    });
    sent.once('response', (answer) => {
      answer.on('data', () => (first ??= performance.now() - begin));
      answer.once('end', () => resolve(first));
      answer.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });

/** Starts 200 streams one after another, as independent agents would, so that all of them run at once. */
const round = async (base) => {
  const calls = [];
  for (let index = 0; index < streams; index += 1) {
    calls.push(call(base, index));
    await new Promise((resolve) => {
      setTimeout(resolve, startMs);
    });
  }
  return Promise.all(calls);
};

const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.floor(values.length * share)];

const main = async () => {
  const upstream = await start('provider');
  const middle = await start('proxy', upstream.url);
  const memory = async () => {
    middle.child.send('memory');
    const [value] = await once(middle.child, 'message');
    return value;
  };
  const times = { direct: [], proxied: [] };
  await round(upstream.url);
  await round(middle.url);
  await round(middle.url);
  const before = await memory();
  for (let count = 0; count < rounds; count += 1) {
    times.direct.push(...(await round(upstream.url)));
    times.proxied.push(...(await round(middle.url)));
  }
  const after = await memory();
  for (const [name, values] of Object.entries(times)) {
    const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => quantile(values, share).toFixed(2));
    console.log(`${name.padEnd(8)} first byte, ms: p50 ${p50}  p90 ${p90}  p99 ${p99}  (${values.length} streams)`);
  }
  const added = (share) => (quantile(times.proxied, share) - quantile(times.direct, share)).toFixed(2);
  console.log(`added    p50 ${added(0.5)}  p99 ${added(0.99)}`);
  const mb = (bytes) => (bytes / 1e6).toFixed(1);
  console.log(
    `heap     ${mb(before.heapUsed)} MB after warm-up, ${mb(after.heapUsed)} MB after ${rounds * streams} streams`,
  );
  console.log(`rss      ${mb(before.rss)} MB, ${mb(after.rss)} MB`);
  middle.child.send('close');
  upstream.child.kill();
  agent.destroy();
};

const roles = { provider, proxy };
await (roles[process.argv[2]] ?? main)();
