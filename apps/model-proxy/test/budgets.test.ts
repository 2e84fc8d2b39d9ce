import { mkdirSync, readFileSync, rmdirSync, writeFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ConfigError, createKey, parseConfig, startProxy, type ProxyConfigInput } from '../src/index.js';
import { messages, post, proxyFor, sendMessage, startProvider } from './provider.js';

const cleanups: (() => Promise<void>)[] = [];
const open = async <Value extends { close(): Promise<void> }>(value: Promise<Value>): Promise<Value> => {
  const opened = await value;
  cleanups.push(opened.close);
  return opened;
};
afterEach(async () => {
  for (const close of cleanups.splice(0).toReversed()) await close();
});

const provider = () => open(startProvider((_, outgoing) => sendMessage(outgoing, { input: 900, output: 100 })));
/** The answer of {@link provider} in a history. */
const reply = { role: 'assistant', content: 'Hello.' };
const statuses = async (base: string, ...bodies: readonly unknown[]): Promise<readonly number[]> => {
  const found: number[] = [];
  for (const body of bodies) found.push((await post(base, body)).status);
  return found;
};

describe('budgets', () => {
  it('refuse calls beyond the limit of the day until the next one', async () => {
    let now = Date.parse('2026-11-22T22:00:00Z');
    const target = await provider();
    const numbers = [0, 0.5];
    const context = { now: () => now, random: () => numbers.shift() ?? 0 };
    const proxy = await open(proxyFor(target, { budgets: { day: { tokens: 2500 } } }, context));
    expect(await statuses(proxy.url, messages('a'))).toEqual([200]);
    const refused = await post(proxy.url, messages('b', reply, 'c'.repeat(5000)));
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('7200');
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await refused.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'rate_limit_error',
        message: expect.stringContaining('has used 1000 tokens of 2500 tokens today') as string,
      },
    });
    const later = await post(proxy.url, messages('b', reply, 'c'.repeat(5000)));
    expect(later.headers.get('retry-after')).toBe('7230');
    now += 2 * 3_600_000;
    expect(await statuses(proxy.url, messages('b', reply, 'c'.repeat(5000)))).toEqual([200]);
  });

  it('count conversations separately', async () => {
    const target = await provider();
    const proxy = await open(proxyFor(target, { budgets: { conversation: { tokens: 2100 } } }));
    const first = messages('a');
    const second = messages('a', reply, 'more');
    const third = messages('a', reply, 'more', reply, 'and more');
    expect(await statuses(proxy.url, first, second, third)).toEqual([200, 200, 429]);
    expect(await statuses(proxy.url, messages('another one'))).toEqual([200]);
  });

  it('count all threads of a session that the agent names', async () => {
    const target = await provider();
    const proxy = await open(proxyFor(target, { budgets: { conversation: { tokens: 2100 } } }));
    const headers = { 'x-claude-code-session-id': 'session-1' };
    const found: number[] = [];
    for (const text of ['a', 'b', 'c']) found.push((await post(proxy.url, messages(text), { headers })).status);
    expect(found).toEqual([200, 200, 429]);
    expect(
      (await post(proxy.url, messages('d'), { headers: { 'x-claude-code-session-id': 'session-2' } })).status,
    ).toBe(200);
  });

  it('count clients separately, with different limits', async () => {
    const [alice, bob] = [createKey(), createKey()];
    const config: ProxyConfigInput = {
      clients: [
        { name: 'alice', keyHash: alice.keyHash, limits: { cost: 0.01 } },
        { name: 'bob', keyHash: bob.keyHash },
      ],
      anthropic: { keys: [{ id: 'main', env: 'KEY' }] },
      prices: { 'claude-*': { input: 10, output: 10 } },
    };
    const target = await provider();
    const proxy = await open(proxyFor(target, config, { env: { KEY: 'sk' } }));
    const call = async (key: string): Promise<number> =>
      (await post(proxy.url, messages('a'), { headers: { 'x-api-key': key } })).status;
    expect([await call(alice.key), await call(alice.key), await call(bob.key)]).toEqual([200, 429, 200]);
  });

  it('warn in a header from a share of a limit', async () => {
    const target = await provider();
    const proxy = await open(proxyFor(target, { budgets: { day: { tokens: 2000 }, warnAt: 0.5 } }));
    const first = await post(proxy.url, messages('a'));
    const second = await post(proxy.url, messages('b'));
    expect(first.headers.get('x-h-budget-warning')).toBeNull();
    expect(second.headers.get('x-h-budget-warning')).toBe('This proxy has used 1000 tokens of 2000 tokens today');
  });

  it('admit no more parallel calls than the limit allows', async () => {
    const waiting: (() => void)[] = [];
    const target = await open(startProvider((_, outgoing) => void waiting.push(() => sendMessage(outgoing))));
    let count = -1;
    const random = () => ((count += 1) % 2 === 0 ? 0 : 0.9);
    const proxy = await open(proxyFor(target, { budgets: { day: { tokens: 1000 } } }, { random }));
    let refused = 0;
    const refusals: (readonly unknown[])[] = [];
    const byTime = ([, one]: readonly unknown[], [, other]: readonly unknown[]) => Number(one) - Number(other);
    const calls = Array.from({ length: 20 }, async (_, index) => {
      const answer = await post(proxy.url, messages(`call ${index}`));
      const text = await answer.text();
      if (answer.status !== 429) return;
      refused += 1;
      refusals.push([answer.headers.get('x-should-retry'), answer.headers.get('retry-after'), text]);
    });
    await expect.poll(() => refused + waiting.length, { timeout: 15_000 }).toBe(20);
    // Each call reserves its estimate of somewhat more than 100 tokens.
    expect(waiting.length).toBe(7);
    for (const answer of waiting) answer();
    await Promise.all(calls);
    // They may fit when the running calls have used less than their estimates.
    const running = expect.stringMatching(
      /needs about 1\d\d tokens beside \d{3} tokens of running calls\. Try again/,
    ) as string;
    const expected = Array.from({ length: 13 }, (_, index) => ['true', index < 7 ? '5' : '10', running]);
    expect(refusals.toSorted(byTime)).toEqual(expected);
  });

  it('count an estimate if the provider reports no usable usage', async () => {
    const usage = [{ input_tokens: -5, output_tokens: '7' }, { input_tokens: 0, output_tokens: 0 }, {}, null];
    const target = await open(
      startProvider((_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'application/json' });
        const text = 'x'.repeat(3500);
        const content = [{ type: 'text', text }];
        outgoing.end(JSON.stringify({ type: 'message', content, stop_reason: 'end_turn', usage: usage.shift() }));
      }),
    );
    const proxy = await open(proxyFor(target, { budgets: { day: { tokens: 4200 } } }));
    const bodies = Array.from({ length: 5 }, (_, index) => messages(`call ${index}`));
    expect(await statuses(proxy.url, ...bodies)).toEqual([200, 200, 200, 200, 429]);
  });

  it('count all choices of an answer without usage', async () => {
    const target = await open(
      startProvider((_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        for (let index = 0; index < 10; index += 1) {
          const choice = { index, delta: { content: 'x'.repeat(350) }, finish_reason: 'stop' };
          outgoing.write(`data: ${JSON.stringify({ id: 'c', choices: [choice] })}\n\n`);
        }
        outgoing.end('data: [DONE]\n\n');
      }),
    );
    const proxy = await open(proxyFor(target, { budgets: { day: { tokens: 1100 } } }));
    const body = { model: 'gpt-5.1', stream: true, n: 10, max_tokens: 100, messages: [{ role: 'user', content: 'a' }] };
    const call = async (): Promise<number> => {
      const answer = await post(proxy.url, body, { path: '/v1/chat/completions' });
      await answer.text();
      return answer.status;
    };
    expect([await call(), await call()]).toEqual([200, 429]);
  });

  it('refuse answers in the background, which are fetched without a count', async () => {
    const target = await provider();
    const body = { model: 'gpt-5.1', input: 'a', background: true };
    const limited = await open(proxyFor(target));
    const refused = await post(limited.url, body, { path: '/v1/responses' });
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining('unmetered: pass')]);
    expect(target.received).toEqual([]);
    const passing = await open(proxyFor(target, { unmetered: 'pass' }));
    expect((await post(passing.url, body, { path: '/v1/responses' })).status).toBe(200);
  });

  it('refuse models without a known price while a cost limit applies', async () => {
    const target = await provider();
    const limited = await open(proxyFor(target, { budgets: { day: { cost: 1 } } }));
    const unknown = { ...messages('a'), model: 'house-model-1' };
    expect(await (await post(limited.url, unknown)).text()).toContain(
      'The price of the model \\"house-model-1\\" is not known',
    );
    const ignoring = await open(proxyFor(target, { budgets: { day: { cost: 1 }, unknownCost: 'ignore' } }));
    expect(await statuses(ignoring.url, unknown)).toEqual([200]);
  });

  it('are stored, also those of conversations, and survive a torn last line', async () => {
    const target = await provider();
    const config = { budgets: { conversation: { tokens: 1900 } } };
    const proxy = await open(proxyFor(target, config));
    expect(await statuses(proxy.url, messages('a'))).toEqual([200]);
    const state = join(proxy.folder, 'copy');
    mkdirSync(state);
    const file = readdirSync(join(proxy.folder, 'state')).find((name) => name.endsWith('.jsonl')) ?? '';
    writeFileSync(join(state, file), `${readFileSync(join(proxy.folder, 'state', file), 'utf8')}{"type":"end","id":"`);
    const again = await startProxy(
      parseConfig({ ...config, listen: { port: 0 }, anthropic: { url: target.url }, state }),
    );
    cleanups.push(again.close);
    // The estimate of the second call exceeds what the stored call has left.
    expect(await statuses(again.url, messages('a', reply, 'x'.repeat(3000)))).toEqual([429]);
    expect(await statuses(again.url, messages('b', reply, 'x'.repeat(3000)))).toEqual([200]);
  });

  it('lock their folder against a second proxy', async () => {
    const target = await provider();
    const proxy = await open(proxyFor(target));
    const second = startProxy(parseConfig({ listen: { port: 0 }, state: join(proxy.folder, 'state') }));
    await expect(second).rejects.toMatchObject({ code: 'lock-held' });
  });

  it('admit calls although the usage of an earlier day cannot be removed', async () => {
    const target = await provider();
    const proxy = await open(proxyFor(target));
    const state = join(proxy.folder, 'other');
    const days = Array.from({ length: 8 }, (_, index) => join(state, `usage-2026-01-0${index + 1}.jsonl`));
    mkdirSync(days[0] ?? '', { recursive: true });
    for (const day of days.slice(1)) writeFileSync(day, '{"type":"snapshot"}\n');
    const other = await open(startProxy(parseConfig({ listen: { port: 0 }, anthropic: { url: target.url }, state })));
    expect(await statuses(other.url, messages('a'), messages('b'))).toEqual([200, 200]);
    expect(readdirSync(state).filter((name) => name.startsWith('usage-'))).toHaveLength(8);
  });

  it('release their folder if the stored usage cannot be read', async () => {
    const target = await provider();
    const proxy = await open(proxyFor(target));
    const state = join(proxy.folder, 'other');
    const unreadable = join(state, 'usage-2026-11-22.jsonl');
    mkdirSync(unreadable, { recursive: true });
    const config = parseConfig({ listen: { port: 0 }, state });
    await expect(startProxy(config)).rejects.toMatchObject({ code: 'EISDIR' });
    rmdirSync(unreadable);
    await open(startProxy(config));
  });
});

describe('parseConfig', () => {
  it.each([
    [{ listen: { hots: 'x' } }, 'listen.hots: unknown option; did you mean "host"?'],
    [{ clientz: [] }, 'clientz: unknown option; did you mean "clients"?'],
    [{ listen: { host: '0.0.0.0' } }, 'listen.host: must be loopback unless `clients` are configured'],
    [{ openai: { keys: [{ id: 'a', env: 'A' }] } }, 'clients: must not be empty'],
    [{ budgets: { day: { tokens: -1 } } }, 'budgets.day.tokens: '],
    [{ anthropic: { url: 'https://user:pass@example.org' } }, 'anthropic.url: must be a base URL without credentials'],
  ])('rejects %j', (value, message) => {
    expect(() => parseConfig(value)).toThrow(message);
    expect(() => parseConfig(value)).toThrow(ConfigError);
  });
});
