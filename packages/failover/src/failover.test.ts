import { harness, intercept, memorySessions, retry, type ModelDriver } from '@h/turn';
import { call, response, scriptedModel, scriptedTools, user } from '@h/turn/testing';
import { NEVER, Observable } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  agentWith,
  askedOf,
  badRequest,
  broken,
  models,
  notices,
  overloaded,
  poolOf,
  rateLimited,
  refused,
  run,
  tooLong,
  watch,
  wrongKey,
} from '../test/turns.js';
import { classifyError } from '@h/provider-errors';
import type { FailoverOptions } from './options.js';
import { failover } from './failover.js';
import type { PoolState, PoolStore } from './pool/pool-store.js';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

const never = 'Never said.';

describe('failover', () => {
  it('uses the option classify', async () => {
    const teapot = { ...badRequest, status: 418 };
    const { watched, asked } = await run([{ error: teapot }, 'Hello.'], {
      pool: poolOf(),
      models,
      classify: (error, options) =>
        error.status === 418
          ? { ...classifyError(error, options), reason: 'overloaded', scope: 'service', retryable: true }
          : classifyError(error, options),
    });
    expect(asked).toEqual(['alpha/one with a1', 'alpha/one with a1']);
    expect(watched.all('failover.retrying')).toMatchObject([{ reason: 'overloaded' }]);
  });

  it('asks the preferred model with a credential and emits no notices', async () => {
    const { watched, asked } = await run(['Hello.'], { pool: poolOf(), models });
    expect(asked).toEqual(['alpha/one with a1']);
    expect(watched.end?.outcome).toBe('completed');
    expect(notices(watched)).toEqual([]);
  });

  it('retries the same model with a growing delay', async () => {
    const { watched, asked } = await run([{ error: broken, after: ['Hel'] }, { error: overloaded }, 'Hello.'], {
      pool: poolOf(),
      models,
    });
    expect(asked).toEqual(['alpha/one with a1', 'alpha/one with a1', 'alpha/one with a1']);
    expect(notices(watched)).toMatchObject([
      {
        type: 'failover.retrying',
        step: 1,
        attempt: 1,
        reason: 'network',
        delayMs: 1_000,
        from: { model: 'alpha/one', credential: 'a1' },
        to: { model: 'alpha/one', credential: 'a1' },
      },
      { type: 'failover.retrying', attempt: 2, reason: 'overloaded', delayMs: 2_000 },
    ]);
    expect(watched.all('model.request').map(({ attempt, at }) => [attempt, at])).toEqual([
      [1, 0],
      [2, 1_000],
      [3, 3_000],
    ]);
    expect(watched.all('model.error').map(({ retrying }) => retrying)).toEqual([true, true]);
    expect(watched.end).toMatchObject({ outcome: 'completed', steps: 1 });
  });

  it('falls back when retries are used up and puts an overloaded model in cooldown', async () => {
    const pool = poolOf();
    const { watched, asked } = await run(
      [...Array.from({ length: 3 }, () => ({ error: overloaded })), 'Hello.'],
      { pool, models, maxRetries: 2 },
      { forMs: 10_000 },
    );
    expect(asked.at(-1)).toBe('beta/two with b1');
    expect(notices(watched).slice(-2)).toMatchObject([
      { type: 'failover.cooling', scope: 'service', reason: 'overloaded', delayMs: 30_000 },
      {
        type: 'failover.switched',
        reason: 'overloaded',
        from: { model: 'alpha/one', credential: 'a1' },
        to: { model: 'beta/two', credential: 'b1' },
      },
    ]);
    expect(pool.status().flatMap(({ cooldowns }) => cooldowns)).toEqual([]);
    expect(pool.acquire({ provider: 'alpha', model: 'alpha/one', session: 'bob' })).toMatchObject({
      reason: 'overloaded',
      until: 3_000 + 30_000,
    });
    expect(pool.acquire({ provider: 'alpha', model: 'alpha/other', session: 'bob' })).toMatchObject({ profile: 'a2' });
  });

  it('rotates on a rate limit, then falls back, then waits for the first to become available', async () => {
    const limited = { error: rateLimited() };
    const shared = poolOf();
    const listeners = new Set<() => void>();
    const onChange = (listener: () => void): (() => void) => {
      const stop = shared.onChange(listener);
      listeners.add(stop);
      return () => {
        listeners.delete(stop);
        stop();
      };
    };
    const pool = { ...shared, onChange };
    const { watched, asked } = await run([limited, limited, limited, limited, 'Hello.'], { pool, models });
    expect(asked).toEqual([
      'alpha/one with a1',
      'alpha/one with a2',
      'beta/two with b1',
      'beta/two with b2',
      'beta/two with b2',
    ]);
    expect(watched.all('failover.switched')).toHaveLength(3);
    expect(watched.all('failover.waiting')).toMatchObject([
      { reason: 'rate-limit', delayMs: 60_000, from: { credential: 'b2' } },
    ]);
    expect(watched.all('model.request').at(-1)?.at).toBe(60_000);
    expect([watched.end?.outcome, listeners.size]).toEqual(['completed', 0]);
  });

  it('waits at least as long as the provider asks', async () => {
    const { watched } = await run([{ error: { ...overloaded, headers: { 'retry-after': '7' } } }, 'Hello.'], {
      models: ['alpha/one'],
    });
    expect(watched.all('model.request').map(({ at }) => at)).toEqual([0, 7_000]);
    const limited = await run([{ error: rateLimited(90) }, { error: rateLimited(95) }, 'Hello.'], {
      pool: poolOf(),
      models: ['alpha/one'],
    });
    expect(limited.watched.all('model.request').map(({ at }, _, all) => at - (all[0]?.at ?? 0))).toEqual([
      0, 0, 90_000,
    ]);
  });

  it('waits as long as the provider asks if nothing else is available', async () => {
    const oneKey = { pool: poolOf({ profiles: [{ id: 'a1', provider: 'alpha', key: 'secret-key-1' }] }) };
    const short = await run([...Array.from({ length: 5 }, () => ({ error: rateLimited(2) })), 'Hello.'], {
      ...oneKey,
      models: ['alpha/one'],
    });
    expect(short.watched.end?.outcome).toBe('completed');
    expect(short.watched.all('failover.waiting').map(({ delayMs }) => delayMs)).toEqual([
      2_000, 4_000, 8_000, 16_000, 32_000,
    ]);
    const long = await run([{ error: rateLimited(300) }, 'Hello.'], { models: ['alpha/one'], maxWaitMs: 60_000 });
    expect(long.watched.end?.outcome).toBe('completed');
    expect(long.watched.all('failover.waiting')).toMatchObject([{ delayMs: 300_000, to: { model: 'alpha/one' } }]);
  });

  it('names the model, not credentials, if a provider needs none', async () => {
    const { watched } = await run([{ error: wrongKey }, never], { models: ['local/one'] });
    const pool = poolOf();
    pool.failed(undefined, 'local/one', classifyError({ status: 404 }));
    const refused = await run([never], { pool, models: ['local/one'] });
    expect(watched.end?.error?.message).toContain('invalid x-api-key');
    expect(refused.watched.end?.reason).toMatch(/^The model is in cooldown after earlier failures\./);
  });

  it('gives a failure with the scope of a request no cooldown', async () => {
    const classify: FailoverOptions['classify'] = (error, options) => ({
      ...classifyError(error, options),
      scope: 'request',
    });
    const pool = poolOf();
    const failing = Array.from({ length: 4 }, () => ({ error: broken }));
    const { asked, watched } = await run([...failing, never], { pool, models: ['alpha/one'], classify });
    expect(asked).toHaveLength(4);
    expect(watched.end).toMatchObject({ outcome: 'error' });
    expect((await run(['Hello.'], { pool, models: ['alpha/one'] })).watched.end?.outcome).toBe('completed');
  });

  it('ends the turn if the wait exceeds the limits of the step, and reports when it ends', async () => {
    const { watched, asked } = await run([{ error: rateLimited(3_000) }, never], {
      pool: poolOf({ profiles: [{ id: 'a1', provider: 'alpha', key: 'secret-key-1' }] }),
      models: ['alpha/one'],
    });
    expect(asked).toHaveLength(1);
    expect(watched.end).toMatchObject({
      outcome: 'error',
      error: {
        name: 'FailoverExhaustedError',
        code: 'failover-exhausted',
        status: 429,
        message:
          'Rate limited [1 call failed (alpha/one with a1: rate-limit); available again at 1970-01-01T00:50:00.000Z; the limit is maxStatedWaitMs = 600000 of failover()]',
        body: {
          attempts: [{ attempt: 1, model: 'alpha/one', credential: 'a1', reason: 'rate-limit', status: 429, at: 0 }],
          availableAt: 3_000_000,
        },
        cause: { message: 'Rate limited' },
      },
    });
    expect(watched.all('failover.exhausted')).toMatchObject([{ attempts: 1, availableAt: 3_000_000 }]);
  });

  it('ends with one error: the first cause on top and a record of each attempt', async () => {
    const { watched } = await run([{ error: wrongKey }, { error: wrongKey }, { error: badRequest }], {
      pool: poolOf(),
      models,
    });
    expect(watched.end?.error).toMatchObject({
      code: 'failover-exhausted',
      status: 401,
      message: expect.stringMatching(
        /^invalid x-api-key \[3 calls failed \(alpha\/one with a1: auth, alpha\/one with a2: auth, beta\/two with b1: invalid-request\)/,
      ) as string,
      body: {
        attempts: [{ credential: 'a1' }, { credential: 'a2' }, { model: 'beta/two', reason: 'invalid-request' }],
        availableAt: 300_000,
      },
    });
    expect(watched.all('model.error').map(({ retrying }) => retrying)).toEqual([true, true, undefined]);
  });

  it('passes the error of a single attempt unchanged', async () => {
    const { watched } = await run([{ error: badRequest }, never], { models: ['alpha/one'] });
    expect(watched.end?.error).toEqual(badRequest);
  });

  it('stores no error with a key of the pool', async () => {
    const pool = poolOf();
    await pool.key('a1');
    const quoting = { ...wrongKey, message: 'Incorrect API key provided: key-of-a1.', body: { sent: ['key-of-a1'] } };
    const { watched } = await run([{ error: quoting }, { error: { ...badRequest, message: 'key-of-a1?' } }], {
      pool,
      models: ['alpha/one'],
    });
    expect(watched.all('model.error')).toHaveLength(2);
    expect(JSON.stringify(watched.events)).not.toContain('key-of-a1');
    expect(watched.end?.error?.message).toMatch(/^Incorrect API key provided: \[redacted\]\./);
  });

  it.each([
    ['a refusal', refused],
    ['a request that is too long', tooLong],
  ])('treats %s as final', async (_, error) => {
    const pool = poolOf();
    const { watched, asked } = await run([{ error }, never], { pool, models });
    expect(asked).toHaveLength(1);
    expect(watched.end?.error).toEqual(error);
    expect(notices(watched)).toEqual([]);
    expect(pool.status().flatMap(({ cooldowns }) => cooldowns)).toEqual([]);
  });

  it('leaves a request that is too long to the operators after it', async () => {
    const shorten = intercept('shorten', () => ({ decide: { 'model.error': (event) => retry(event) } }));
    const model = scriptedModel([{ error: tooLong }, 'Hello.']);
    const watched = watch(
      harness({ model })
        .pipe(failover({ pool: poolOf(), models }), shorten)
        .turn({ session: 'alice', input: 'Go.' }),
    );
    await vi.advanceTimersByTimeAsync(1_000);
    expect(watched.end?.outcome).toBe('completed');
    expect(askedOf(model)).toEqual(['alpha/one with a1', 'alpha/one with a1']);
  });

  it('falls back from a request that a model rejects, without a cooldown', async () => {
    const pool = poolOf();
    const { asked } = await run([{ error: badRequest }, 'Hello.'], { pool, models });
    expect(asked).toEqual(['alpha/one with a1', 'beta/two with b1']);
    expect(pool.status().flatMap(({ cooldowns }) => cooldowns)).toEqual([]);
  });

  it('stays with the fallback for the turn and begins the next one at the preferred model', async () => {
    const pool = poolOf();
    const sessions = memorySessions();
    const tools = scriptedTools({ ls: 'a.txt' });
    const first = await run(
      [{ error: badRequest }, response(call('1', 'ls')), 'Done.'],
      { pool, models },
      { sessions, tools },
    );
    expect(first.asked).toEqual(['alpha/one with a1', 'beta/two with b1', 'beta/two with b1']);
    expect((await run(['Hello.'], { pool, models }, { sessions })).asked).toEqual(['alpha/one with a1']);
  });

  it('skips a preferred model in cooldown', async () => {
    const pool = poolOf();
    await run([{ error: wrongKey }, { error: wrongKey }, 'Hello.'], { pool, models }, { forMs: 1_000 });
    const { watched, asked } = await run(['Hello.'], { pool, models }, { forMs: 1_000 });
    expect(asked).toEqual(['beta/two with b1']);
    expect(notices(watched)).toMatchObject([
      { type: 'failover.switched', reason: 'auth', from: { model: 'alpha/one' }, to: { model: 'beta/two' } },
    ]);
  });

  it('repeats the failed call only, never a tool', async () => {
    const tools = scriptedTools({ write: 'written' });
    const { watched, model } = await run(
      [response(call('1', 'write')), { error: rateLimited() }, { error: broken }, 'Done.'],
      { pool: poolOf(), models },
      { tools },
    );
    expect(tools.ran).toHaveLength(1);
    expect(watched.end).toMatchObject({ outcome: 'completed', steps: 2 });
    expect(new Set(model.requests.slice(1).map(({ messages }) => JSON.stringify(messages))).size).toBe(1);
  });

  it('does not fall back from a model that the user chose', async () => {
    const { asked, watched } = await run(
      [{ error: badRequest }, never],
      { pool: poolOf(), models },
      { metadata: { model: 'beta/two' } },
    );
    expect(asked).toEqual(['beta/two with b1']);
    expect(watched.end?.outcome).toBe('error');
    const rotated = await run([{ error: wrongKey }, 'Hello.'], {
      pool: poolOf(),
      models,
      chosenModel: () => 'beta/other',
    });
    expect(rotated.asked).toEqual(['beta/other with b1', 'beta/other with b2']);
  });

  it('does not fall back without models', async () => {
    const { asked } = await run(
      [{ error: badRequest }, never],
      { pool: poolOf(), models: [] },
      { defaultModel: 'alpha/one' },
    );
    expect(asked).toEqual(['alpha/one with a1']);
    expect((await run([{ error: broken }, 'Hello.'])).asked).toEqual(['', '']);
  });

  it('asks the model of the request first, and each model once', async () => {
    const { asked } = await run(
      [{ error: badRequest }, { error: badRequest }, { error: badRequest }],
      { pool: poolOf(), models: [...models, 'alpha/one'] },
      { defaultModel: 'beta/two' },
    );
    expect(asked).toEqual(['beta/two with b1', 'alpha/one with a1']);
  });

  it('gives each model its own settings', async () => {
    const { model } = await run(
      [{ error: badRequest }, 'Hello.'],
      {
        models: ['alpha/one', { model: 'small', provider: 'beta', settings: { maxOutputTokens: 100 } }],
        pool: poolOf(),
      },
      { settings: { temperature: 0, maxOutputTokens: 9_000 } },
    );
    expect(model.requests.map(({ settings, credential }) => ({ ...settings, credential }))).toEqual([
      { temperature: 0, maxOutputTokens: 9_000, credential: 'a1' },
      { temperature: 0, maxOutputTokens: 100, credential: 'b1' },
    ]);
  });

  it('respects the limits of a step', async () => {
    const failing = Array.from({ length: 50 }, () => ({ error: broken }));
    expect((await run(failing, { models, maxRetries: 0, maxWaitMs: 20_000 })).asked).toEqual(models);
    expect((await run(failing, { models, maxRetries: 1, maxWaitMs: 20_000 })).asked).toHaveLength(4);
    expect((await run(failing, { models, maxRetries: 1 })).asked).toHaveLength(10);
    expect((await run(failing, { models, maxRetries: 1, maxAttempts: 7 })).asked).toHaveLength(7);
    expect((await run(failing, { models, maxAttempts: 3, maxRetries: 9 })).asked).toHaveLength(3);
    expect(
      (await run(failing, { models: ['alpha/one'], maxRetries: 40, maxAttempts: 99, maxElapsedMs: 5_000 })).asked,
    ).toHaveLength(3);
    const { watched } = await run(
      failing,
      { models: ['alpha/one'], maxElapsedMs: 1_500, backoff: () => 1_000 },
      { forMs: 1_001 },
    );
    expect(watched.end?.outcome, 'a wait that would end too late is not begun').toBe('error');
    expect((await run(failing, { models: ['alpha/one'], maxWaitMs: 3_000, maxRetries: 40 })).asked).toHaveLength(3);
    expect(
      (await run(failing, { models: ['alpha/one'], backoff: (retry) => retry * 10 }, { forMs: 59 })).asked,
    ).toHaveLength(3);
    expect((await run(failing, { models: ['alpha/one'], random: () => 1 }, { forMs: 1_499 })).asked).toHaveLength(2);
  });

  it('applies changed actions', async () => {
    expect(
      (
        await run([{ error: badRequest }, never], {
          pool: poolOf(),
          models,
          actions: { 'invalid-request': { fallBack: false } },
        })
      ).asked,
    ).toHaveLength(1);
    expect(
      (
        await run([{ error: broken }, never], {
          pool: poolOf(),
          models,
          actions: { network: { retry: false, fallBack: false } },
        })
      ).asked,
    ).toHaveLength(1);
    expect(
      (
        await run([{ error: rateLimited() }, 'Hi.'], {
          pool: poolOf(),
          models,
          actions: { 'rate-limit': { rotate: false } },
        })
      ).asked,
    ).toEqual(['alpha/one with a1', 'beta/two with b1']);
    expect(
      (
        await run([{ error: wrongKey }, { error: wrongKey }, never], {
          pool: poolOf(),
          models,
          actions: { auth: { fallBack: false } },
        })
      ).asked,
    ).toEqual(['alpha/one with a1', 'alpha/one with a2']);
    expect(
      (
        await run([{ error: broken }, { error: broken }, 'Hi.'], {
          models,
          maxWaitMs: 20_000,
          actions: { network: { maxRetries: 0 } },
        })
      ).asked,
    ).toEqual(models);
  });

  it('shares the cooldown of an outage with other turns', async () => {
    const pool = poolOf();
    const { watched, asked } = await run(
      [...Array.from({ length: 4 }, () => ({ error: broken })), 'Hello.'],
      { pool, models, maxRetries: 1 },
      { forMs: 31_000 },
    );
    expect(asked).toEqual([
      'alpha/one with a1',
      'alpha/one with a1',
      'beta/two with b1',
      'beta/two with b1',
      'alpha/one with a1',
    ]);
    expect(watched.all('failover.waiting')).toMatchObject([
      { reason: 'network', to: { model: 'alpha/one' }, delayMs: 29_000 },
    ]);
    expect(pool.status().flatMap(({ cooldowns }) => cooldowns)).toEqual([]);
    expect(pool.acquire({ provider: 'beta', model: 'beta/two', session: 'bob' })).toMatchObject({ reason: 'network' });
  });

  it('retries an empty answer once, then accepts it', async () => {
    const empty = response(' ');
    const { watched, asked } = await run([empty, 'Hello.'], { pool: poolOf(), models });
    expect(asked).toEqual(['alpha/one with a1', 'alpha/one with a1']);
    expect(watched.all('model.error')).toMatchObject([
      { retrying: true, error: { code: 'empty-response' }, usage: empty.usage },
    ]);
    expect(watched.end).toMatchObject({ outcome: 'completed', usage: { input: 20, output: 10 } });
    const again = await run([empty, empty, never], { pool: poolOf(), models });
    expect(again.asked).toHaveLength(2);
    expect(again.watched.end?.outcome).toBe('completed');
    expect((await run([{ ...empty, finishReason: 'length' }, never], { models })).asked).toHaveLength(1);
  });

  it('treats an unexpected abort as a broken connection', async () => {
    const { asked, watched } = await run(
      [{ error: { name: 'AbortError', code: 'aborted', message: 'This operation was aborted' } }, 'Hello.'],
      { models },
    );
    expect(asked).toHaveLength(2);
    expect(watched.all('failover.retrying')).toMatchObject([{ reason: 'network' }]);
  });

  it('emits no delta of a failed attempt after the next one has begun', async () => {
    const late: ModelDriver = (_, { attempt }) =>
      new Observable((subscriber) => {
        subscriber.next({ type: 'delta', delta: { type: 'text', text: `attempt ${attempt}` } });
        subscriber.next(
          attempt === 1 ? { type: 'error', error: broken } : { type: 'response', response: response('attempt 2') },
        );
        subscriber.next({ type: 'delta', delta: { type: 'text', text: 'too late' } });
      });
    const watched = watch(agentWith(late).turn({ session: 'alice', input: 'Go.' }));
    await vi.advanceTimersByTimeAsync(5_000);
    const shown = new Map<number, string>();
    for (const event of watched.events) {
      if (event.type === 'model.delta' && event.delta.type === 'text') {
        shown.set(event.attempt, (shown.get(event.attempt) ?? '') + event.delta.text);
      }
      if (event.type === 'model.error') shown.delete(event.attempt);
    }
    expect([...shown]).toEqual([[2, 'attempt 2']]);
  });

  it('passes an error that an operator before it retries', async () => {
    const mine = intercept('mine', () => ({ decide: { 'model.error': (event) => retry(event) } }));
    const model = scriptedModel([{ error: broken }, 'Hello.']);
    const watched = watch(harness({ model }).pipe(mine, failover({ models })).turn({ session: 'alice', input: 'Go.' }));
    await vi.advanceTimersByTimeAsync(0);
    expect(model.requests).toHaveLength(2);
    expect(watched.end?.outcome).toBe('completed');
    expect(notices(watched)).toEqual([]);
  });

  it('works again after a stop that another operator replaced', async () => {
    const onceMore = intercept('once-more', () => {
      let pushed = false;
      return {
        decide: {
          'turn.stop': (event) =>
            pushed || event.outcome !== 'completed'
              ? undefined
              : ((pushed = true), { type: 'turn.continue', messages: [user('And?')], reason: 'more' }),
        },
      };
    });
    const model = scriptedModel(['One.', { error: broken }, 'Two.']);
    const watched = watch(
      harness({ model }).pipe(failover({ models }), onceMore).turn({ session: 'alice', input: 'Go.' }),
    );
    await vi.advanceTimersByTimeAsync(60_000);
    expect(watched.end?.outcome).toBe('completed');
    expect(model.requests).toHaveLength(3);
  });
});

describe('a turn that is cancelled', () => {
  const scripts = {
    'a retry': [{ error: broken }, never],
    'a free key': [{ error: rateLimited() }, { error: rateLimited() }, never],
  };
  it.each(Object.entries(scripts))('ends at once while it waits for %s', async (_, script) => {
    const controller = new AbortController();
    const model = scriptedModel(script);
    const watched = watch(
      agentWith(model, { pool: poolOf(), models: ['alpha/one'] }).turn({
        session: 'alice',
        input: 'Go.',
        signal: controller.signal,
      }),
    );
    await vi.advanceTimersByTimeAsync(500);
    expect(watched.end).toBeUndefined();
    controller.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(watched.end).toMatchObject({ outcome: 'cancelled' });
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(watched.types.at(-1)).toBe('turn.end');
    expect(model.requests).toHaveLength(script.length - 1);
  });

  it('starts no cooldown and no other call', async () => {
    const pool = poolOf();
    const controller = new AbortController();
    const model = scriptedModel([{ never: ['Hel'] }, never]);
    const watched = watch(
      agentWith(model, { pool, models }).turn({ session: 'alice', input: 'Go.', signal: controller.signal }),
    );
    await vi.advanceTimersByTimeAsync(10);
    controller.abort();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(watched.end?.outcome).toBe('cancelled');
    expect([model.abandoned, model.active]).toEqual([1, 0]);
    expect(model.requests).toHaveLength(1);
    expect(pool.status().flatMap(({ cooldowns }) => cooldowns)).toEqual([]);
  });

  it('releases its probe', async () => {
    const pool = poolOf({ profiles: [{ id: 'a1', provider: 'alpha', key: 'secret-key-1' }] });
    const watched = watch(
      agentWith(scriptedModel([{ error: rateLimited() }, { never: [] }]), { pool, models: ['alpha/one'] }).turn({
        session: 'alice',
        input: 'Go.',
      }),
    );
    await vi.advanceTimersByTimeAsync(60_000);
    const bob = { provider: 'alpha', model: 'alpha/one', session: 'bob' };
    expect(pool.acquire(bob)).toMatchObject({ until: undefined, reason: 'rate-limit', profile: 'a1' });
    watched.leave();
    expect(pool.acquire(bob)).toMatchObject({ profile: 'a1', isProbe: true });
  });

  it('leaves no timers and listeners behind, whenever its subscriber leaves', async () => {
    const limited = { error: rateLimited() };
    for (let ms = 0; ms <= 125_000; ms += 2_500) {
      const pool = poolOf();
      const model = scriptedModel([{ error: broken }, limited, limited, { error: broken }, limited, 'Done.'], {
        delayMs: 100,
      });
      const watched = watch(agentWith(model, { pool, models: ['alpha/one'] }).turn({ session: 'alice', input: 'Go.' }));
      await vi.advanceTimersByTimeAsync(ms);
      watched.leave();
      expect(vi.getTimerCount(), `timers are left after ${ms} ms`).toBe(0);
      await vi.advanceTimersByTimeAsync(3_600_000);
      for (const session of ['bob', 'carol']) {
        expect(pool.acquire({ provider: 'alpha', model: 'alpha/one', session }), `after ${ms} ms`).toHaveProperty(
          'release',
        );
      }
    }
  });
});

describe('turns that share a pool', () => {
  it('skip a credential that is in cooldown', async () => {
    const pool = poolOf();
    const first = await run([{ error: rateLimited() }, 'Hi.'], { pool, models }, { forMs: 100 });
    const second = await run(['Hi.'], { pool, models }, { forMs: 100 });
    expect([first.asked, second.asked]).toEqual([['alpha/one with a1', 'alpha/one with a2'], ['alpha/one with a2']]);
  });

  it('probe a credential one at a time after its cooldown', async () => {
    const pool = poolOf({ profiles: [{ id: 'a1', provider: 'alpha', key: 'secret-key-1' }] });
    const limited = { error: rateLimited() };
    const model = scriptedModel([limited, limited, limited, 'One.', 'Two.', 'Three.'], { delayMs: 1_000 });
    const agent = agentWith(model, { pool, models: ['alpha/one'] });
    const turns = ['a', 'b', 'c'].map((session) => watch(agent.turn({ session, input: 'Go.' })));
    await vi.advanceTimersByTimeAsync(60_500);
    expect(model.requests).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(600);
    expect(model.requests).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(turns.map(({ end }) => end?.outcome)).toEqual(['completed', 'completed', 'completed']);
    expect(model.requests).toHaveLength(6);
  });

  it('call a credential whose probe hangs, once its cooldown is forgotten', async () => {
    const pool = poolOf({ profiles: [{ id: 'a1', provider: 'alpha', key: 'secret-key-1' }] });
    const scripted = scriptedModel([{ error: rateLimited() }, 'Hello.']);
    let calls = 0;
    const model: ModelDriver = (request, context) => {
      calls += 1;
      return calls === 2 ? NEVER : scripted(request, context);
    };
    const agent = agentWith(model, { pool, models: ['alpha/one'] });
    watch(agent.turn({ session: 'a', input: 'Go.' }));
    await vi.advanceTimersByTimeAsync(0);
    const { since = 0, until = 0 } = pool.status()[0]?.cooldowns[0] ?? {};
    await vi.advanceTimersByTimeAsync(until);
    const second = watch(agent.turn({ session: 'b', input: 'Go.' }));
    await vi.advanceTimersByTimeAsync(until - since - 1);
    expect([calls, second.end]).toEqual([2, undefined]);
    await vi.advanceTimersByTimeAsync(1);
    expect(second.end?.outcome).toBe('completed');
  });

  it('end without a call if all cooldowns exceed the limits of a step', async () => {
    const pool = poolOf();
    for (const id of ['a1', 'a2', 'b1', 'b2']) pool.failed(id, undefined, classifyError({ status: 402 }));
    const { watched, asked } = await run([never], { pool, models });
    expect(asked).toEqual([]);
    expect(watched.end).toMatchObject({
      outcome: 'error',
      error: { code: 'failover-exhausted', body: { attempts: [], availableAt: 3_600_000 } },
    });
    expect(watched.end?.reason).toMatch(
      /All credentials are in cooldown after earlier failures\. \[no call was made; available again at 1970-01-01T01:00:00\.000Z; the limit is maxWaitMs = 120000 of failover\(\)\]/,
    );
    expect(watched.types).not.toContain('model.request');
  });

  it('wait before the first call if a cooldown ends soon', async () => {
    const pool = poolOf();
    for (const id of ['a1', 'a2', 'b1', 'b2']) {
      pool.failed(id, undefined, classifyError({ status: 402, headers: { 'retry-after': id === 'b1' ? '20' : '90' } }));
    }
    const { watched, asked } = await run(['Hello.'], { pool, models });
    expect(asked).toEqual(['beta/two with b1']);
    expect(notices(watched)).toMatchObject([
      {
        type: 'failover.waiting',
        reason: 'quota',
        delayMs: 20_000,
        from: {},
        to: { model: 'beta/two', credential: 'b1' },
      },
      { type: 'failover.switched', to: { model: 'beta/two', credential: 'b1' } },
    ]);
    expect(watched.all('model.request').map(({ at }) => at)).toEqual([20_000]);
  });

  it('end a wait that becomes too long', async () => {
    const pool = poolOf({ profiles: [{ id: 'a1', provider: 'alpha', key: 'secret-key-1' }] });
    const model = scriptedModel([{ error: rateLimited() }, never]);
    const watched = watch(agentWith(model, { pool, models: ['alpha/one'] }).turn({ session: 'alice', input: 'Go.' }));
    await vi.advanceTimersByTimeAsync(30_000);
    pool.failed('a1', 'alpha/one', classifyError({ status: 402 }));
    await vi.advanceTimersByTimeAsync(0);
    expect(watched.end).toMatchObject({
      outcome: 'error',
      error: { code: 'failover-exhausted', status: 429, body: { availableAt: 3_630_000 } },
    });
    expect(watched.all('model.error')).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('continue as soon as a credential becomes available', async () => {
    const pool = poolOf();
    const limited = { error: rateLimited() };
    const model = scriptedModel([limited, limited, 'Hello.']);
    const watched = watch(agentWith(model, { pool, models: ['alpha/one'] }).turn({ session: 'alice', input: 'Go.' }));
    await vi.advanceTimersByTimeAsync(10_000);
    pool.reset('a2');
    await vi.advanceTimersByTimeAsync(0);
    expect(watched.end?.outcome).toBe('completed');
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([0, 500])('read the cooldowns of other processes first, with a store that takes %i ms', async (delayMs) => {
    let state: PoolState = { version: 1, windows: {} };
    const later = async <Value>(value: Value): Promise<Value> =>
      delayMs === 0 ? value : new Promise((resolve) => setTimeout(() => resolve(value), delayMs));
    const store: PoolStore = {
      read: async () => later(state),
      update: async (change) => later((state = change(state))),
    };
    const [mine, other] = [poolOf({ store }), poolOf({ store })];
    for (const id of ['a1', 'a2']) other.failed(id, 'alpha/one', classifyError({ status: 429 }));
    await vi.advanceTimersByTimeAsync(2_000);
    expect((await run(['Hello.'], { pool: mine, models }, { forMs: 1_000 })).asked).toEqual(['beta/two with b1']);
    const waiting = await run(['Hello.'], { pool: poolOf({ store }), models: ['alpha/one'] });
    expect(waiting.watched.all('failover.waiting')).toHaveLength(1);
    expect(waiting.asked).toEqual(['alpha/one with a1']);
    expect(
      (
        await run(['Hello.'], {
          pool: poolOf({
            store: {
              ...store,
              read: () => {
                throw new Error('No disk.');
              },
            },
          }),
          models,
        })
      ).asked,
    ).toEqual(['alpha/one with a1']);
  });

  it('keep waiting if the probe fails', async () => {
    const pool = poolOf({ profiles: [{ id: 'a1', provider: 'alpha', key: 'secret-key-1' }] });
    const limited = { error: rateLimited() };
    const model = scriptedModel([limited, limited, limited, limited, 'One.', 'Two.', 'Three.']);
    const agent = agentWith(model, { pool, models: ['alpha/one'] });
    const turns = ['a', 'b', 'c'].map((session) => watch(agent.turn({ session, input: 'Go.' })));
    await vi.advanceTimersByTimeAsync(179_999);
    expect(model.requests).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(1);
    expect(turns.map(({ end }) => end?.outcome)).toEqual(['completed', 'completed', 'completed']);
  });
});
