import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parseConfig, startProxy, type ProxyConfigInput, type RunningProxy } from '../src/index.js';
import { post, sendMessage, startProvider, type Received } from './provider.js';
import type { Listening } from './tap.js';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of cleanups.splice(0).toReversed()) await close();
});

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'model-proxy-compaction-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const startOn = async (
  provider: Listening,
  folder: string,
  compaction: ProxyConfigInput['compaction'],
  more: ProxyConfigInput = {},
): Promise<RunningProxy> => {
  const proxy = await startProxy(
    parseConfig({
      listen: { port: 0 },
      state: join(folder, 'state'),
      anthropic: { url: provider.url },
      openai: { url: provider.url },
      compaction,
      ...more,
    }),
  );
  cleanups.push(() => proxy.close());
  return proxy;
};

const provider = async (): Promise<Listening & { readonly received: Received[] }> => {
  const started = await startProvider(({ body }, outgoing) => {
    const isSummary = body['model'] === 'small';
    sendMessage(outgoing, { text: isSummary ? 'The files were read.' : 'Hello.', input: 1000, output: 10 });
  });
  cleanups.push(started.close);
  return started;
};

const output = (step: number): string => `Line of file ${step}. `.repeat(300);

/** One step of an agent in each format: a call and its result. The notation differs from that of JSON.stringify. */
const formats = {
  '/v1/messages': (step: number): readonly string[] => [
    `{"role": "assistant", "content": [{"type":"thinking","thinking":"Read \\u0066ile ${step}.","signature":"s${step}="}, {"type":"tool_use","id":"toolu_${step}","name":"read","input":{"n":${step}.0}}]}`,
    `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_${step}","content":"${output(step)}"},{"type":"text","text":"Reminder \\u0041."}]}`,
  ],
  '/v1/chat/completions': (step: number): readonly string[] => [
    `{"role":"assistant", "content":null,"tool_calls":[{"id":"call_${step}","type":"function","function":{"name":"read","arguments":"{\\"n\\": ${step}}"}}]}`,
    `{"role":"tool","tool_call_id":"call_${step}","content":"${output(step)}"}`,
  ],
  '/v1/responses': (step: number): readonly string[] => [
    `{"type":"reasoning","id":"rs_${step}","summary":[],"encrypted_content":"e${step}"}`,
    `{"type":"function_call", "id":"fc_${step}","call_id":"call_${step}","name":"read","arguments":"{\\"n\\": ${step}}"}`,
    `{"type":"function_call_output","call_id":"call_${step}","output":"${output(step)}"}`,
  ],
} as const;

type Path = keyof typeof formats;

const paths = Object.keys(formats) as Path[];
const memberOf = (path: Path): string => (path === '/v1/responses' ? 'input' : 'messages');

const bodyFor = (path: Path, steps: number): string => {
  const head = path === '/v1/chat/completions' ? ['{"role":"system","content":"Be  terse."}'] : [];
  const entries = [...head, '{"role":"user", "content":"Read the files of \\u0066oo."}'];
  for (let step = 1; step <= steps; step += 1) entries.push(...formats[path](step));
  return `{"model":"m", "max_tokens": 100, "seed": 12345678901234567890, "${memberOf(path)}": [${entries.join(',')}]}`;
};

/** The text of a request without the end of its list of entries. */
const prefixOf = (text: string): string => text.slice(0, text.lastIndexOf(']'));

const callsOf = (text: string): readonly string[] =>
  [...text.matchAll(/"(?:id|call_id)":"((?:toolu|call)_\d+)"/g)].map(([, id]) => id ?? '');
const resultsOf = (text: string): readonly string[] =>
  [...text.matchAll(/"(?:tool_use_id|tool_call_id|call_id)":"((?:toolu|call)_\d+)"/g)].map(([, id]) => id ?? '');

describe('compaction', () => {
  it.each(paths)('keeps requests within the window, and their beginnings byte for byte: %s', async (path) => {
    const upstream = await provider();
    const folder = newFolder();
    const settings = { window: 12_000, protectTokens: 2_000 };
    let proxy = await startOn(upstream, folder, settings);
    const last = 14;
    for (let steps = 1; steps <= last; steps += 1) {
      if (steps === 11) {
        await proxy.close();
        proxy = await startOn(upstream, folder, settings);
        // The restart changes nothing in what is sent.
        await post(proxy.url, bodyFor(path, steps - 1), { path });
        expect(upstream.received.at(-1)?.text).toBe(upstream.received.at(-2)?.text);
      }
      expect((await post(proxy.url, bodyFor(path, steps), { path })).status).toBe(200);
    }
    const sent = upstream.received.map(({ text }) => text);
    // Until the first compaction, nothing is changed.
    expect(sent[0]).toBe(bodyFor(path, 1));
    const whole = bodyFor(path, last).length;
    expect(whole).toBeGreaterThan(60_000);
    expect(Math.max(...sent.map(({ length }) => length))).toBeLessThan(40_000);
    // Each request continues the one before, except for the few that were compacted.
    const breaks = sent.slice(1).filter((text, index) => !text.startsWith(prefixOf(sent[index] ?? '')));
    expect(breaks.length).toBeGreaterThan(0);
    expect(breaks.length).toBeLessThan(8);
    const latest = sent.at(-1) ?? '';
    for (const entry of formats[path](last)) expect(latest).toContain(entry);
    for (const text of sent) {
      expect(JSON.parse(text)).toMatchObject({ model: 'm' });
      expect(text).toContain('"seed": 12345678901234567890');
      expect(new Set(callsOf(text))).toEqual(new Set(resultsOf(text)));
      expect(text).toContain('Read the files of');
    }
  });

  it.each(paths)('summarizes with a model of the same provider, within the budgets: %s', async (path) => {
    const upstream = await provider();
    const proxy = await startOn(upstream, newFolder(), { window: 12_000, protectTokens: 2_000, summarizer: 'small' });
    const headers = { authorization: 'Bearer client' };
    await post(proxy.url, bodyFor(path, 8), { path, headers });
    const summaries = upstream.received.filter(({ body }) => body['model'] === 'small');
    expect(summaries.length).toBeGreaterThan(0);
    expect(summaries[0]?.headers.authorization).toBe('Bearer client');
    expect(upstream.received.at(-1)?.text.length).toBeLessThan(40_000);
    if (path === '/v1/messages') expect(upstream.received.at(-1)?.text).toContain('The files were read.');
  });

  it.each(paths)('compacts and sends a request again once when the provider reports an overflow: %s', async (path) => {
    const maxChars = 30_000;
    const refused =
      '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9000 tokens > 8000 maximum"}}';
    const upstream = await startProvider(({ text }, outgoing) => {
      if (text.length <= maxChars) return sendMessage(outgoing);
      return void outgoing.writeHead(400, { 'content-type': 'application/json', 'x-id': '7' }).end(refused);
    });
    cleanups.push(upstream.close);
    const proxy = await startOn(upstream, newFolder(), { window: 200_000, protectTokens: 2_000 });
    expect((await post(proxy.url, bodyFor(path, 12), { path })).status).toBe(200);
    const [given, ...again] = upstream.received.map(({ text }) => text);
    expect([given, again.length]).toEqual([bodyFor(path, 12), 1]);
    // The decision is remembered: the next request is sent once, and continues the bytes of this one.
    expect((await post(proxy.url, bodyFor(path, 13), { path })).status).toBe(200);
    expect(upstream.received).toHaveLength(3);
    expect(upstream.received[2]?.text.startsWith(prefixOf(again[0] ?? ''))).toBe(true);
  });

  it.each([
    [400, 'max_tokens: must be a number'],
    [400, 'prompt is too long: 9000 tokens > 8000 maximum'],
    [529, 'Overloaded'],
  ])(
    'forwards another error, or an overflow of a single message, as it was received: %s %s',
    async (status, message) => {
      const refused = `{"type":"error", "error":{"type":"invalid_request_error","message":"${message}"}}`;
      const upstream = await startProvider((_, outgoing) => {
        outgoing.writeHead(status, { 'content-type': 'application/json', 'x-id': '7' }).end(refused);
      });
      cleanups.push(upstream.close);
      const proxy = await startOn(upstream, newFolder(), { window: 200_000 });
      const answer = await post(proxy.url, bodyFor('/v1/messages', 0));
      expect([answer.status, answer.headers.get('x-id'), await answer.text()]).toEqual([status, '7', refused]);
      expect(upstream.received).toHaveLength(1);
    },
  );

  it('begins at the threshold', async () => {
    const upstream = await provider();
    const body = bodyFor('/v1/messages', 6);
    for (const threshold of [1, 0.2]) {
      const proxy = await startOn(upstream, newFolder(), { window: 40_000, protectTokens: 2_000, threshold });
      await post(proxy.url, body);
    }
    const [late, early] = upstream.received.map(({ text }) => text.length);
    expect(late).toBe(body.length);
    expect(early).toBeLessThan(body.length);
  });

  it('changes nothing and stores nothing unless the configuration requests it', async () => {
    const upstream = await provider();
    const folder = newFolder();
    const proxy = await startOn(upstream, folder, false);
    await post(proxy.url, bodyFor('/v1/messages', 12));
    expect(upstream.received[0]?.text).toBe(bodyFor('/v1/messages', 12));
    expect(existsSync(join(folder, 'state', 'compactions.jsonl'))).toBe(false);
  });
});
