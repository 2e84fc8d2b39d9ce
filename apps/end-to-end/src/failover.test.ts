import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as tick } from 'node:timers/promises';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { LLMock, type ChatCompletionRequest, type FixtureResponse, type MockServerOptions } from '@copilotkit/aimock';
import { languageModel } from '@h/ai-sdk';
import { compaction } from '@h/compaction';
import {
  createCredentialPool,
  failover,
  redactKeys,
  splitModelName,
  streamTimeouts,
  type CredentialPool,
} from '@h/failover';
import { harness, memorySessions, repairHistory, type ModelDriver, type TurnEvent } from '@h/turn';
import { failure, scriptedModel, scriptedTools } from '@h/turn/testing';
import { from, Observable, Subscription, type SchedulerAction, type SchedulerLike } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

const keys = {
  a1: 'test-key-of-alpha-one',
  a2: 'test-key-of-alpha-two',
  b1: 'test-key-of-beta-one',
  b2: 'test-key-of-beta-two',
};
type KeyId = keyof typeof keys;

/** How a provider treats the requests of a key. */
type Condition = 'fine' | 'limited' | 'overloaded' | 'revoked' | 'cut' | 'broken';

/** The condition of each key by minute. A key that is not listed for a minute works. */
const hour: readonly (readonly [from: number, to: number, condition: Condition, ...keys: readonly KeyId[]])[] = [
  [4, 9, 'limited', 'a1'],
  [6, 8, 'limited', 'a2'],
  [11, 14, 'overloaded', 'a1', 'a2'],
  [16, 60, 'revoked', 'b1'],
  [20, 24, 'limited', 'a1', 'a2', 'b2'],
  [27, 40, 'revoked', 'a1'],
  [30, 33, 'cut', 'a2'],
  [35, 38, 'broken', 'a2', 'b2'],
  [45, 49, 'overloaded', 'a1', 'a2', 'b2'],
  [52, 53, 'cut', 'a1', 'a2', 'b2'],
];
const minute = 60_000;
const conditionOf = (key: KeyId, at: number): Condition =>
  hour.find(([begin, end, , ...who]) => at >= begin * minute && at < end * minute && who.includes(key))?.[2] ?? 'fine';

/** Creates a virtual clock. It stops while a call is in progress and otherwise jumps from timer to timer. */
const virtualTime = () => {
  let now = 0;
  let queue: { readonly at: number; readonly run: () => void }[] = [];
  const scheduler: SchedulerLike = {
    now: () => now,
    schedule: <State>(work: (this: SchedulerAction<State>, state: State) => void, delayMs: number, state?: State) => {
      const action = new Subscription();
      const entry = { at: now + delayMs, run: () => work.call(action as SchedulerAction<State>, state as State) };
      queue = [...queue, entry].toSorted((one, other) => one.at - other.at);
      action.add(() => {
        queue = queue.filter((other) => other !== entry);
      });
      return action;
    },
  };
  return {
    scheduler,
    /** Runs the next timer. @returns whether a timer was scheduled */
    advance: (): boolean => {
      const [next, ...rest] = queue;
      if (next === undefined) return false;
      queue = rest;
      now = Math.max(now, next.at);
      next.run();
      return true;
    },
  };
};

/** Wraps a driver and counts the calls in progress. */
const counting = (driver: ModelDriver): ModelDriver & { readonly active: number } => {
  let active = 0;
  const counted: ModelDriver = (request, context) =>
    new Observable((subscriber) => {
      active += 1;
      subscriber.add(() => {
        active -= 1;
      });
      subscriber.add(from(driver(request, context)).subscribe(subscriber));
    });
  return Object.defineProperty(counted, 'active', { get: () => active }) as ModelDriver & { readonly active: number };
};

const answer = ({ messages }: ChatCompletionRequest): FixtureResponse => {
  const asked = messages.findLast(({ role }) => role === 'user')?.content;
  const turn = /turn [a-z]-\d+/.exec(JSON.stringify(asked))?.[0] ?? 'no turn';
  return messages.at(-1)?.role === 'tool'
    ? { content: `${turn} is done.` }
    : { toolCalls: [{ name: 'note', arguments: JSON.stringify({ turn }) }] };
};

const startMock = async (
  options: MockServerOptions,
  respond: (request: ChatCompletionRequest) => FixtureResponse,
  cut: { readonly truncateAfterChunks?: number } = {},
): Promise<URL> => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', ...options });
  mock.on({ predicate: () => true }, respond, cut);
  const url = new URL(await mock.start());
  onTestFinished(async () => {
    await mock.stop();
  });
  return url;
};

const mocks = async (): Promise<Readonly<Record<Condition, URL>>> => {
  const failing = (status: number, type: string, message: string, retryAfter?: number) =>
    startMock({}, () => ({ status, error: { type, message }, ...(retryAfter !== undefined && { retryAfter }) }));
  return {
    fine: await startMock({}, answer),
    limited: await failing(
      429,
      'rate_limit_error',
      'This request would exceed the rate limit of 20,000 input tokens per minute.',
      75,
    ),
    overloaded: await failing(529, 'overloaded_error', 'Overloaded'),
    revoked: await failing(401, 'authentication_error', 'invalid x-api-key'),
    broken: await failing(500, 'api_error', 'Internal server error'),
    cut: await startMock({ chunkSize: 3 }, answer, { truncateAfterChunks: 2 }),
  };
};

/** A call that a provider received. */
interface Call {
  readonly key: KeyId;
  readonly condition: Condition;
  readonly at: number;
  readonly wasCooling: boolean;
}

const keyOf = ({ headers }: IncomingMessage): KeyId => {
  const given = headers['x-api-key'] ?? headers.authorization?.replace('Bearer ', '');
  const found = Object.entries(keys).find(([, key]) => key === given)?.[0];
  if (found === undefined) throw new Error('A provider received a call without a known key.');
  return found as KeyId;
};

/** Starts a server for both providers. It forwards each call to the mock for the key's current condition. */
const startProviders = async (
  now: () => number,
  pool: () => CredentialPool,
): Promise<{ readonly url: string; readonly calls: readonly Call[] }> => {
  const upstream = await mocks();
  const calls: Call[] = [];
  const server = createServer((incoming, outgoing) => {
    const key = keyOf(incoming);
    const condition = conditionOf(key, now());
    const isCooling = pool()
      .status()
      .some(({ id, cooldowns }) => id === key && cooldowns.some(({ until }) => until > now()));
    calls.push({ key, condition, at: now(), wasCooling: isCooling });
    const { hostname: host, port } = upstream[condition];
    const { method, headers, url: path } = incoming;
    const onward = httpRequest({ host, port, path, method, headers }, (answered) => {
      outgoing.writeHead(answered.statusCode ?? 502, answered.headers);
      answered.pipe(outgoing);
      answered.once('error', () => outgoing.destroy());
    });
    onward.once('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, calls };
};

describe('an hour with two providers and four keys', () => {
  it('loses no call, skips credentials in cooldown and runs no tool twice', async () => {
    const time = virtualTime();
    const { scheduler } = time;
    const pool = createCredentialPool({
      profiles: Object.entries(keys).map(([id, key]) => ({
        id,
        provider: id.startsWith('a') ? 'anthropic' : 'openai',
        key,
      })),
      now: () => scheduler.now(),
      random: () => 0.5,
    });
    const { url, calls } = await startProviders(
      () => scheduler.now(),
      () => pool,
    );
    const resolve = async (name = '', credential = '') => {
      const { provider, model } = splitModelName(name);
      const apiKey = await pool.key(credential);
      return provider === 'anthropic'
        ? createAnthropic({ baseURL: url, apiKey })(model)
        : createOpenAI({ baseURL: url, apiKey })(model);
    };
    const model = counting(streamTimeouts(redactKeys(languageModel({ resolve }), pool), { scheduler }));
    const noted: string[] = [];
    const tools = scriptedTools({
      note: (input) => {
        noted.push((input as { readonly turn: string }).turn);
        return 'Noted.';
      },
    });
    const sessions = memorySessions();
    const agent = harness({ model, tools, sessions, scheduler }).pipe(
      failover({
        pool,
        models: ['anthropic/claude-sonnet-4-5', 'openai/gpt-5'],
        maxWaitMs: 15 * minute,
        maxElapsedMs: 30 * minute,
        maxAttempts: 40,
        random: () => 0.5,
      }),
    );

    const events: TurnEvent[] = [];
    const turns: string[] = [];
    let open = 0;
    /** Starts a turn each minute, or as soon as the previous turn has ended. */
    const startTurn = (session: string, number: number, startedAt: number): void => {
      const name = `turn ${session}-${number}`;
      turns.push(name);
      const next = (): void => {
        if (number < 59) {
          scheduler.schedule(
            () => startTurn(session, number + 1, startedAt),
            Math.max(0, startedAt + (number + 1) * minute - scheduler.now()),
          );
        }
        open -= 1;
      };
      open += 1;
      agent
        .turn({ session, input: `Please do ${name}.` })
        .subscribe({ next: (event) => events.push(event), complete: next });
    };
    for (const [index, session] of ['x', 'y'].entries()) {
      scheduler.schedule(() => startTurn(session, 0, index * 20_000), index * 20_000);
    }
    for (let idle = 0; ;) {
      await tick();
      idle = model.active === 0 ? idle + 1 : 0;
      if (idle < 4) continue;
      idle = 0;
      if (!time.advance() && open === 0) break;
    }

    const ends = events.filter((event) => event.type === 'turn.end');
    expect(ends.filter(({ outcome }) => outcome !== 'completed').map(({ reason }) => reason)).toEqual([]);
    expect(ends).toHaveLength(120);
    expect(noted.toSorted()).toEqual(turns.toSorted());
    expect(calls.filter(({ wasCooling }) => wasCooling)).toEqual([]);
    for (const session of ['x', 'y']) {
      const messages = sessions.messages(session);
      expect(repairHistory(messages).repairs).toEqual([]);
      expect(messages.filter(({ role }) => role === 'assistant')).toHaveLength(120);
    }

    const met = (condition: Condition): number => calls.filter((call) => call.condition === condition).length;
    for (const condition of ['fine', 'limited', 'overloaded', 'revoked', 'broken', 'cut'] as const) {
      expect(met(condition), condition).toBeGreaterThan(0);
    }
    expect(new Set(calls.filter(({ condition }) => condition === 'fine').map(({ key }) => key))).toEqual(
      new Set(Object.keys(keys)),
    );
    const types = new Set(events.map(({ type }) => type));
    for (const type of ['failover.retrying', 'failover.switched', 'failover.waiting', 'failover.cooling'] as const) {
      expect(types).toContain(type);
    }
    expect(types).not.toContain('failover.exhausted');
    expect(met('revoked'), 'calls with a rejected key, which is retried every few minutes at most').toBeLessThan(20);
    expect(JSON.stringify(events)).not.toMatch(new RegExp(Object.values(keys).join('|')));
  }, 120_000);
});

describe('a switch to a model with a smaller window', () => {
  it('shortens the history with a hand-off first, so that the request fits', async () => {
    const long = Array.from({ length: 60 }, (_, index) => ({
      role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
      content: `${index}: ${'word '.repeat(400)}`,
    }));
    const sessions = memorySessions({ alice: long });
    const model = scriptedModel([
      { error: failure('This model is not available to your account.', { status: 404 }) },
      'Hello from the small one.',
    ]);
    const summarize = vi.fn(() => 'Summary of the conversation.');
    const agent = harness({ model, sessions }).pipe(
      failover({ models: ['anthropic/large', 'openai/small'] }),
      compaction({ window: (name) => (name === 'openai/small' ? 16_000 : 200_000), summarize }),
    );
    const events: TurnEvent[] = [];
    await new Promise<void>((resolve) => {
      agent
        .turn({ session: 'alice', input: 'Go on.' })
        .subscribe({ next: (event) => events.push(event), complete: resolve });
    });
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
    const types = events.map(({ type }) => type);
    expect(types.indexOf('failover.switched')).toBeLessThan(types.indexOf('compaction.done'));
    expect(events.find((event) => event.type === 'compaction.done')).toMatchObject({ trigger: 'model-switch' });
    expect(summarize.mock.calls.length).toBeGreaterThan(0);
    const [first, second] = model.requests.map(({ messages }) => JSON.stringify(messages).length / 4);
    expect(first).toBeGreaterThan(16_000);
    expect(second).toBeLessThan(16_000);
  });
});
