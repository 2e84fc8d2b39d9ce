/**
 * Measures what the proxy adds to the first byte of an answer with 200 streams at once, its CPU time, its memory, and how
 * soon the provider notices that a client has left. A bare reverse proxy of `node:http` is measured beside it.
 *
 * Client, proxies and provider are separate processes. Rounds alternate, so that all see the same load. Usage:
 * `node bench/streams.mjs [rounds]` after a build.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

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
      outgoing.once('close', () => {
        if (!outgoing.writableFinished) process.send({ leftAt: performance.timeOrigin + performance.now() });
      });
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

/** Answers the questions of the benchmark about this process. */
const report = (end) => {
  process.on('message', (message) => {
    if (message !== 'usage') {
      void end();
      return;
    }
    globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    process.send({ heapUsed, rss, cpuMs: (user + system) / 1000 });
  });
};

/** The least that a proxy can do: a request and two pipes. */
const bare = () => {
  const upstreamAgent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming;
    const sent = request(`${process.argv[3]}${url}`, { method, headers, agent: upstreamAgent });
    sent.once('response', (from) => {
      outgoing.writeHead(from.statusCode, from.headers);
      from.pipe(outgoing);
      from.once('error', () => outgoing.destroy());
    });
    sent.once('error', () => outgoing.destroy());
    outgoing.once('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  server.listen(0, '127.0.0.1', () => process.send(`http://127.0.0.1:${server.address().port}`));
  report(() => process.exit());
};

const proxy = async () => {
  // As the program does.
  for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=400']) setFlagsFromString(flag);
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
  report(end);
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

const bodyOf = (index) =>
  JSON.stringify({
    model: 'claude-opus-4-5',
    max_tokens: 100,
    stream: true,
    messages: [...history, { role: 'user', content: `Stream ${index}` }],
  });

const post = (base) =>
  request(`${base}/v1/messages`, { method: 'POST', agent, headers: { 'content-type': 'application/json' } });

/** Returns the time to the first byte of the body, in milliseconds. */
const call = (base, index) =>
  new Promise((resolve, reject) => {
    const body = bodyOf(index);
    const begin = performance.now();
    let first;
    const sent = post(base);
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

/** Returns the milliseconds until the provider notices that a client has left in mid-stream, for one stream after another. */
const departures = async (base, upstream, count) => {
  const times = [];
  for (let index = 0; index < count; index += 1) {
    const noticed = once(upstream, 'message');
    const leftAt = await leave(base, index);
    const [message] = await noticed;
    times.push(Math.max(0, message.leftAt - leftAt));
  }
  return times;
};

/** Leaves a stream at its first byte. Returns the time. */
const leave = (base, index) =>
  new Promise((resolve, reject) => {
    const sent = post(base);
    sent.once('error', reject);
    sent.once('response', (answer) => {
      answer.once('error', () => undefined);
      answer.once('data', () => {
        resolve(performance.timeOrigin + performance.now());
        sent.destroy();
      });
    });
    sent.end(bodyOf(index));
  });

const main = async () => {
  const upstream = await start('provider');
  const targets = [{ name: 'direct', url: upstream.url }];
  for (const name of ['bare', 'proxy']) targets.push({ name, ...(await start(name, upstream.url)) });
  const usageOf = async ({ child }) => {
    child.send('usage');
    const [value] = await once(child, 'message');
    return value;
  };
  const middle = targets.slice(1);
  for (const target of [...targets, ...middle]) await round(target.url);
  for (const target of targets) Object.assign(target, { times: [] });
  for (const target of middle) target.before = await usageOf(target);
  for (let count = 0; count < rounds; count += 1) {
    for (const { url, times } of targets) times.push(...(await round(url)));
  }
  const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  for (const target of middle) target.after = await usageOf(target);
  for (const { name, times, before, after } of targets) {
    const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => quantile(times, share));
    const added = [0.5, 0.9, 0.99].map((share) => quantile(times, share) - quantile(targets[0].times, share));
    console.log(
      `${name.padEnd(7)} first byte: p50 ${p50.toFixed(2)} ms, p90 ${p90.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms; added ${added.map((value) => value.toFixed(2)).join(', ')} ms`,
    );
    if (!before) continue;
    const cpu = (after.cpuMs - before.cpuMs) / times.length;
    console.log(
      `        CPU ${cpu.toFixed(2)} ms a stream; heap ${mb(before.heapUsed)} → ${mb(after.heapUsed)}, rss ${mb(before.rss)} → ${mb(after.rss)} over ${times.length} streams`,
    );
  }
  for (const { name, url } of targets) {
    const times = await departures(url, upstream.child, streams);
    console.log(
      `${name.padEnd(7)} departure noticed: median ${quantile(times, 0.5).toFixed(1)} ms, max ${Math.max(...times).toFixed(1)} ms (${times.length} clients)`,
    );
  }
  for (const { child } of middle) child.send('close');
  upstream.child.kill();
  agent.destroy();
};

const roles = { provider, bare, proxy };
await (roles[process.argv[2]] ?? main)();
