import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { classifyError, type ErrorClass } from '@h/provider-errors';
import { createCredentialPool, type CredentialPoolOptions } from './credential-pool.js';
import type { PoolState, PoolStore } from './pool-store.js';
import type { CredentialProfile } from './profile.js';
import type { CredentialLease, Unavailable } from './profile-picker.js';

const profiles: readonly CredentialProfile[] = [
  { id: 'a1', provider: 'alpha', key: 'secret-key-of-a1' },
  { id: 'a2', provider: 'alpha', key: { env: 'KEY_2' } },
  { id: 'a3', provider: 'alpha', key: () => 'secret-key-of-a3' },
  { id: 'b1', provider: 'beta', key: 'secret-key-of-b1' },
];
const limited = classifyError({ status: 429 });
const asking = (seconds: number): ErrorClass =>
  classifyError({ status: 429, headers: { 'retry-after': String(seconds) } });
const quota = classifyError({ status: 402 });
const unauthorized = classifyError({ status: 401 });

const setUp = (options: Partial<CredentialPoolOptions> = {}) => {
  const clock = { now: 0 };
  const pool = createCredentialPool({
    profiles,
    env: { KEY_2: 'secret-key-of-a2' },
    now: () => clock.now,
    random: () => 0,
    ...options,
  });
  const take = (session: string, model = 'm', provider = 'alpha'): CredentialLease | Unavailable =>
    pool.acquire({ provider, model, session });
  const who = (session: string, model?: string): string | undefined => {
    const found = take(session, model);
    if ('release' in found) found.release();
    return 'release' in found ? found.profile : undefined;
  };
  return { clock, pool, take, who };
};

describe('createCredentialPool', () => {
  it('gives a session the same profile again, and other sessions another one', () => {
    const { who } = setUp();
    expect(['s1', 's2', 's3', 's1', 's2', 's3', 's1'].map((session) => who(session))).toEqual([
      'a1',
      'a2',
      'a3',
      'a1',
      'a2',
      'a3',
      'a1',
    ]);
  });

  it('prefers profiles with fewer failures, then the least recently used', () => {
    const { pool, who } = setUp();
    pool.failed('a1', 'other', limited);
    expect([who('s1'), who('s2'), who('s3'), who('s4')]).toEqual(['a2', 'a3', 'a2', 'a3']);
  });

  it('limits the cooldown of a rate limit to one model', () => {
    const { pool, take, who } = setUp();
    who('s1', 'm');
    expect(pool.failed('a1', 'm', limited)).toMatchObject({ scope: 'model', since: 0, until: 60_000, level: 1 });
    expect(who('s1', 'm')).toBe('a2');
    pool.failed('a2', 'm', limited);
    pool.failed('a3', 'm', asking(300));
    expect(take('s1', 'm')).toEqual({ until: 60_000, reason: 'rate-limit', profile: 'a2' });
    expect(who('s9', 'another')).toBe('a3');
    pool.failed('a3', 'another', limited);
    expect(pool.status()[2]?.cooldowns.map(({ model }) => model)).toEqual(['m', 'another']);
    expect(who('s9', 'a third')).toBe('a3');
  });

  it('extends the cooldown of a quota or a rejected key to all models', () => {
    const { pool, who } = setUp();
    pool.failed('a1', 'm', quota);
    pool.failed('a2', 'm', unauthorized);
    expect([who('s1', 'm'), who('s2', 'other')]).toEqual(['a3', 'a3']);
    expect(pool.status().map(({ cooldowns }) => cooldowns.map(({ until }) => until))).toEqual([
      [3_600_000],
      [300_000],
      [],
      [],
    ]);
  });

  it('starts no cooldown of a profile for overloads, broken connections and bad requests', () => {
    const { pool, take } = setUp();
    for (const status of [400, 413, 422]) expect(pool.failed('a1', 'm', classifyError({ status }))).toBeUndefined();
    expect(pool.failed('a1', 'm', classifyError({ status: 529 }))).toMatchObject({ scope: 'service', until: 30_000 });
    for (const status of [500, 502, 504]) {
      expect(pool.failed('a1', `broken-${status}`, classifyError({ status }))).toMatchObject({
        scope: 'service',
        until: 30_000,
      });
    }
    expect(pool.failed('a1', 'far', classifyError({ code: 'ECONNRESET' }))).toMatchObject({ scope: 'service' });
    expect(pool.status().flatMap(({ cooldowns, failures }) => [...cooldowns, failures])).toEqual([0, 0, 0, 0]);
    expect(take('s1', 'm')).toEqual({ until: 30_000, reason: 'overloaded', profile: 'a1' });
    expect(take('s1', 'other')).toMatchObject({ profile: 'a1' });
  });

  it('doubles the cooldown up to an hour, and resets it after a success', () => {
    const { clock, pool, take } = setUp();
    const times: number[] = [];
    for (let failure = 0; failure < 9; failure += 1) {
      const window = pool.failed('b1', 'm', limited);
      if (typeof window !== 'object') throw new Error('No cooldown began.');
      times.push((window.until - clock.now) / 60_000);
      clock.now = window.until;
    }
    expect(times).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(take('s', 'm', 'beta')).toMatchObject({ isProbe: true });
    pool.succeeded('b1', 'm');
    expect(pool.failed('b1', 'm', limited)).toMatchObject({ until: clock.now + 60_000, level: 1 });
  });

  it('resets the cooldown after a quiet time as long as the window', () => {
    const { clock, pool } = setUp();
    pool.failed('b1', 'm', limited);
    clock.now = 119_999;
    expect(pool.failed('b1', 'm', limited)).toMatchObject({ level: 2 });
    clock.now = 119_999 + 240_000;
    expect(pool.failed('b1', 'm', limited)).toMatchObject({ level: 1 });
  });

  it('ends cooldowns, and starts new ones, after the clock was set back by an hour', () => {
    const { clock, pool, take } = setUp();
    clock.now = 2 * 3_600_000;
    pool.failed('b1', 'm', limited);
    clock.now -= 3_600_000;
    expect(take('s', 'm', 'beta')).toMatchObject({ profile: 'b1', isProbe: false });
    expect(pool.failed('b1', 'm', limited)).toMatchObject({ until: clock.now + 60_000, level: 1 });
    expect(take('s', 'm', 'beta')).toMatchObject({ until: clock.now + 60_000 });
  });

  it('uses the wait that the provider asks for, and doubles it after further failures', () => {
    const { clock, pool } = setUp();
    expect(pool.failed('a1', 'm', asking(7_200))).toMatchObject({ until: 7_200_000 });
    expect(pool.failed('a2', 'm', asking(5))).toMatchObject({ until: 5_000 });
    clock.now = 5_000;
    expect(pool.failed('a2', 'm', asking(5))).toMatchObject({ until: 15_000, level: 2 });
    clock.now = 15_000;
    expect(pool.failed('a2', 'm', asking(10_000))).toMatchObject({ until: 10_015_000 });
  });

  it('never shortens an active window, and does not count calls that were under way', () => {
    const { clock, pool } = setUp();
    pool.failed('a1', 'm', quota);
    clock.now = 1_000;
    expect(pool.failed('a1', 'm', unauthorized)).toMatchObject({ reason: 'quota', until: 3_600_000 });
    for (let burst = 0; burst < 10; burst += 1) pool.failed('a2', 'm', limited);
    expect(pool.status()[1]?.cooldowns).toMatchObject([{ level: 1, until: 61_000 }]);
    pool.failed('a2', 'm', asking(120));
    expect(pool.status()[1]?.cooldowns).toMatchObject([{ level: 1, until: 121_000 }]);
  });

  it('ignores the success of a call that was sent before the failure', () => {
    const { pool, take } = setUp();
    pool.failed('b1', 'm', limited);
    pool.succeeded('b1', 'm');
    expect(take('s', 'm', 'beta')).toMatchObject({ until: 60_000 });
  });

  it('allows one probe at a time after a window, and notifies listeners of its outcome', () => {
    const { clock, pool, take } = setUp();
    const changes = vi.fn();
    const stop = pool.onChange(changes);
    pool.failed('b1', 'm', limited);
    clock.now = 60_000;
    const probe = take('s1', 'm', 'beta') as CredentialLease;
    expect(probe).toMatchObject({ profile: 'b1', isProbe: true });
    expect(take('s2', 'm', 'beta')).toMatchObject({ until: undefined, reason: 'rate-limit', profile: 'b1' });
    changes.mockClear();
    probe.release();
    probe.release();
    expect(changes).toHaveBeenCalledOnce();
    const again = take('s2', 'm', 'beta') as CredentialLease;
    expect(again.isProbe).toBe(true);
    pool.succeeded('b1', 'm');
    again.release();
    expect(take('s1', 'm', 'beta')).toMatchObject({ isProbe: false });
    stop();
    changes.mockClear();
    pool.failed('b1', 'm', limited);
    expect(changes).not.toHaveBeenCalled();
  });

  it('probes a profile and its service with one call', () => {
    const { clock, pool, take } = setUp();
    pool.failed('a1', 'm', classifyError({ status: 500, headers: { 'retry-after': '301' } }, { now: clock.now }));
    pool.failed('a1', 'm', unauthorized);
    clock.now = 301_000;
    expect(take('s1')).toMatchObject({ profile: 'a1', isProbe: true });
    pool.succeeded('a2', 'm');
    expect(take('s1')).toMatchObject({ profile: 'a2' });
  });

  it('needs no profile for an unknown provider, and puts its models in cooldown', () => {
    const { pool } = setUp();
    const ask = (model: string) => pool.acquire({ provider: 'ollama', model, session: 's' });
    expect(ask('llama')).toMatchObject({ profile: undefined, isProbe: false });
    pool.failed(undefined, 'llama', unauthorized);
    expect(ask('llama')).toMatchObject({ until: 300_000 });
    expect(ask('qwen')).toHaveProperty('release');
    expect(pool.acquire({ provider: undefined, model: undefined, session: 's' })).toHaveProperty('release');
  });

  it('applies other cooldowns, or none, with jitter', () => {
    const { pool } = setUp({
      cooldowns: { 'rate-limit': { baseMs: 10, factor: 1, maxMs: 10 }, auth: false },
      random: () => 1,
    });
    expect(pool.failed('a1', 'm', limited)).toMatchObject({ until: 11 });
    expect(pool.failed('a1', 'm', unauthorized)).toBeUndefined();
  });

  it('ends cooldowns on reset', () => {
    const { pool, who } = setUp();
    for (const id of ['a1', 'a2', 'a3']) pool.failed(id, 'm', quota);
    expect(who('s')).toBeUndefined();
    pool.reset('a2');
    expect(who('s')).toBe('a2');
    pool.reset();
    expect(pool.status().flatMap(({ cooldowns }) => cooldowns)).toEqual([]);
    expect(() => pool.reset('a9')).toThrow(/"a9"; it has "a1", "a2"/);
  });

  it('remembers a limited number of sessions', () => {
    const { who } = setUp();
    expect(who('first')).toBe('a1');
    for (let session = 0; session < 10_002; session += 1) who(`s${session}`);
    expect(who('first')).not.toBe('a1');
  });
});

describe('keys', () => {
  it('come from a value, the environment or a function', async () => {
    const { pool } = setUp();
    expect(await Promise.all(['a1', 'a2', 'a3'].map((id) => pool.key(id)))).toEqual([
      'secret-key-of-a1',
      'secret-key-of-a2',
      'secret-key-of-a3',
    ]);
  });

  it('are renewed shortly before they expire, with one request for all callers', async () => {
    let issued = 0;
    const clock = { now: 0 };
    const key = vi.fn(async () =>
      Promise.resolve({ key: `issued-token-${(issued += 1)}`, expiresAt: clock.now + 600_000 }),
    );
    const pool = createCredentialPool({ profiles: [{ id: 'a', provider: 'alpha', key }], now: () => clock.now });
    expect(await Promise.all([pool.key('a'), pool.key('a')])).toEqual(['issued-token-1', 'issued-token-1']);
    clock.now = 539_999;
    expect(await pool.key('a')).toBe('issued-token-1');
    clock.now = 540_000;
    expect(await pool.key('a')).toBe('issued-token-2');
    expect(key).toHaveBeenCalledTimes(2);
  });

  it('that were issued and rejected are replaced once before a cooldown', async () => {
    let issued = 0;
    const { pool } = setUp({
      profiles: [
        { id: 'a1', provider: 'alpha', key: () => ({ key: `issued-token-${(issued += 1)}`, expiresAt: 9e12 }) },
      ],
    });
    expect(await pool.key('a1')).toBe('issued-token-1');
    expect(pool.failed('a1', 'm', unauthorized)).toBe('renewed');
    expect(await pool.key('a1')).toBe('issued-token-2');
    expect(pool.failed('a1', 'm', unauthorized)).toMatchObject({ until: 300_000 });
    pool.succeeded('a1', 'm');
    await pool.key('a1');
    expect(pool.failed('a1', 'm', unauthorized)).toBe('renewed');
  });

  it.each<[string, CredentialProfile['key'], RegExp]>([
    ['a variable that is not set', { env: 'NOT_SET' }, /"a" has no key: the variable NOT_SET is not set/],
    ['a function that gives none', () => '', /"a" has no key: its function returned none/],
    [
      'a function that throws',
      () => {
        throw new Error('Vault is shut.');
      },
      /"a" has no key: Vault is shut\./,
    ],
    [
      'a function that rejects with a key in its words',
      async () => Promise.reject(new Error('403 for secret-key-of-b')),
      /"a" has no key: 403 for \[redacted\]/,
    ],
  ])('that cannot be had are an error that shows none: %s', async (_, key, message) => {
    const pool = createCredentialPool({
      profiles: [
        { id: 'a', provider: 'alpha', key },
        { id: 'b', provider: 'beta', key: 'secret-key-of-b' },
      ],
      env: {},
    });
    await expect(pool.key('a')).rejects.toMatchObject({
      code: 'credential-unavailable',
      message: expect.stringMatching(message) as string,
    });
    await expect(pool.key('a')).rejects.not.toHaveProperty('cause', expect.anything());
    await expect(pool.key('nobody')).rejects.toMatchObject({ code: 'unknown-credential' });
  });

  it('are requested again after a function that never settled', async () => {
    vi.useFakeTimers();
    try {
      const key = vi.fn(async () => new Promise<string>(() => undefined));
      const pool = createCredentialPool({ profiles: [{ id: 'a', provider: 'alpha', key }], keyTimeoutMs: 500 });
      const failed = Promise.allSettled([pool.key('a'), pool.key('a')]);
      await vi.advanceTimersByTimeAsync(500);
      const reason = { code: 'credential-unavailable', message: expect.stringContaining('within 500 ms.') as string };
      expect(await failed).toMatchObject([{ reason }, { reason }]);
      key.mockResolvedValue('secret-key-of-a');
      expect(await pool.key('a')).toBe('secret-key-of-a');
      expect([key.mock.calls.length, vi.getTimerCount()]).toEqual([2, 0]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('come without the line break of a file, and are redacted without it', async () => {
    const issued = { key: 'secret-key-3\n', expiresAt: Date.now() + 3_600_000 };
    const pool = createCredentialPool({
      profiles: [
        { id: 'a1', provider: 'alpha', key: { env: 'KEY' } },
        { id: 'a3', provider: 'alpha', key: () => issued },
        { id: 'a4', provider: 'alpha', key: () => ' \n' },
      ],
      env: { KEY: 'secret-key-1\n' },
    });
    const keys = [await pool.key('a1'), await pool.key('a3'), await pool.key('a3')];
    expect(keys).toEqual(['secret-key-1', 'secret-key-3', 'secret-key-3']);
    expect(pool.redact('secret-key-1, secret-key-3')).toBe('[redacted], [redacted]');
    await expect(pool.key('a4')).rejects.toThrow(/returned none/);
  });

  it('never appear when the pool is printed', async () => {
    const { pool } = setUp();
    for (const id of ['a1', 'a2', 'a3', 'b1']) await pool.key(id);
    pool.failed('a1', 'm', limited);
    const shown = [
      inspect(pool, { depth: Infinity, showHidden: true, getters: true }),
      JSON.stringify(pool),
      // oxlint-disable-next-line typescript/no-base-to-string -- this is what a careless log line does
      String(pool),
      JSON.stringify(pool.status()),
      inspect(pool.acquire({ provider: 'alpha', model: 'm', session: 's' }), { depth: Infinity, showHidden: true }),
      Object.values(pool).map(String).join(),
    ].join();
    expect(shown).not.toMatch(/secret-key/);
    expect(JSON.parse(JSON.stringify(pool))).toMatchObject([
      { id: 'a1', cooldowns: [{ reason: 'rate-limit' }] },
      { id: 'a2' },
      { id: 'a3' },
      { id: 'b1' },
    ]);
    expect(pool.redact('Incorrect API key provided: secret-key-of-a2.')).toBe(
      'Incorrect API key provided: [redacted].',
    );
  });
});

describe('whatever happens', () => {
  type Step =
    | { readonly type: 'wait'; readonly ms: number }
    | { readonly type: 'fail'; readonly id: string; readonly status: number; readonly retryAfter: number | undefined }
    | { readonly type: 'succeed'; readonly id: string }
    | { readonly type: 'ask'; readonly session: string; readonly keep: boolean };
  const id = fc.constantFrom('a1', 'a2', 'a3');
  const steps = fc.array(
    fc.oneof<fc.Arbitrary<Step>[]>(
      fc.record({ type: fc.constant('wait' as const), ms: fc.nat(200_000) }),
      fc.record({
        type: fc.constant('fail' as const),
        id,
        status: fc.constantFrom(400, 401, 402, 429, 500, 529),
        retryAfter: fc.option(fc.nat(5_000), { nil: undefined }),
      }),
      fc.record({ type: fc.constant('succeed' as const), id }),
      fc.record({ type: fc.constant('ask' as const), session: fc.constantFrom('s1', 's2'), keep: fc.boolean() }),
    ),
    { maxLength: 60 },
  );

  it('shortens no window, leases nothing in cooldown, probes one at a time, and becomes available in the end', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { clock, pool, take } = setUp();
        const until = new Map<string, number>();
        const probes = new Map<string, number>();
        const open: CredentialLease[] = [];
        for (const step of all) {
          if (step.type === 'wait') clock.now += step.ms;
          if (step.type === 'succeed') pool.succeeded(step.id, 'm');
          if (step.type === 'fail') {
            const headers = step.retryAfter === undefined ? {} : { 'retry-after': String(step.retryAfter) };
            pool.failed(step.id, 'm', classifyError({ status: step.status, headers }, { now: clock.now }));
          }
          // A success is the outcome of a probe. A failure may be one of the service, which calls of any profile then probe.
          if (step.type === 'succeed') probes.set(step.id, 0);
          if (step.type === 'fail') probes.clear();
          for (const { id: name, cooldowns } of pool.status()) {
            const known = until.get(name) ?? 0;
            const now = Math.max(0, ...cooldowns.map((window) => window.until));
            if (known > clock.now) expect(now).toBeGreaterThanOrEqual(known);
            until.set(name, now);
          }
          if (step.type !== 'ask') continue;
          const found = take(step.session);
          if (!('release' in found)) continue;
          expect(until.get(found.profile ?? '') ?? 0).toBeLessThanOrEqual(clock.now);
          if (found.isProbe) probes.set(found.profile ?? '', (probes.get(found.profile ?? '') ?? 0) + 1);
          expect(Math.max(0, ...probes.values())).toBeLessThanOrEqual(1);
          if (step.keep) open.push(found);
          else {
            found.release();
            if (found.isProbe) probes.set(found.profile ?? '', 0);
          }
        }
        for (const lease of open) lease.release();
        clock.now += 40 * 86_400_000;
        expect(take('s1')).toHaveProperty('release');
      }),
    );
  });
});

describe('notifications', () => {
  it('come seldom while many calls that were under way fail', () => {
    const { clock, pool } = setUp({ random: () => (clock.now % 7) / 7 });
    const changes = vi.fn();
    pool.onChange(changes);
    for (let call = 0; call < 1_000; call += 1) {
      clock.now += 1;
      pool.failed('b1', 'm', limited);
    }
    expect(changes).toHaveBeenCalledOnce();
    pool.failed('b1', 'm', asking(120));
    expect(changes).toHaveBeenCalledTimes(2);
  });

  it('come when stored cooldowns of other processes differ, and not with every read', async () => {
    let stored: PoolState = { version: 1, windows: {} };
    const store: PoolStore = { read: () => stored, update: (change) => (stored = change(stored)) };
    const { clock, pool } = setUp({ store, refreshMs: 0 });
    const { pool: other } = setUp({ store });
    const changes = vi.fn();
    pool.onChange(changes);
    const readAt = async (now: number): Promise<number> => {
      clock.now = now;
      await pool.refresh();
      return changes.mock.calls.length;
    };
    other.failed('b1', 'm', limited);
    await other.flush();
    expect([await readAt(1), await readAt(2), await readAt(3)]).toEqual([1, 1, 1]);
    other.reset();
    await other.flush();
    expect([await readAt(4), await readAt(5)]).toEqual([2, 2]);
  });

  type Use = { readonly of: number } & (
    | { readonly type: 'begin' | 'succeed' | 'abort' | 'reset' }
    | { readonly type: 'fail'; readonly status: number; readonly retryAfter: number | undefined }
    | { readonly type: 'wait'; readonly ms: number }
  );
  const of = fc.nat(4);
  const uses = fc.array(
    fc.oneof<fc.Arbitrary<Use>[]>(
      fc.record({ of, type: fc.constant('begin' as const) }),
      fc.record({ of, type: fc.constantFrom('succeed' as const, 'abort' as const, 'reset' as const) }),
      fc.record({
        of,
        type: fc.constant('fail' as const),
        status: fc.constantFrom(401, 402, 429, 500, 529),
        retryAfter: fc.option(fc.nat(300), { nil: undefined }),
      }),
      fc.record({ of, type: fc.constant('wait' as const), ms: fc.nat(100_000) }),
    ),
    { maxLength: 80 },
  );

  it('reach every call that waits as soon as it could be made, or made earlier', () => {
    fc.assert(
      fc.property(uses, (all) => {
        const { clock, pool, take } = setUp();
        const waiting = new Map<number, Unavailable>();
        const running = new Map<number, CredentialLease>();
        const modelOf = (call: number): string => (call === 4 ? 'other' : 'm');
        const look = (call: number): void => {
          const found = take(`s${call}`, modelOf(call), 'alpha');
          waiting.delete(call);
          if ('release' in found) running.set(call, found);
          else waiting.set(call, found);
        };
        pool.onChange(() => {
          for (const call of Array.from(waiting.keys())) look(call);
        });
        const settle = (call: number, report: (profile: string | undefined) => void): void => {
          const lease = running.get(call);
          if (lease === undefined) return;
          running.delete(call);
          report(lease.profile);
          lease.release();
        };
        for (const use of all) {
          if (use.type === 'begin' && !waiting.has(use.of) && !running.has(use.of)) look(use.of);
          if (use.type === 'succeed') settle(use.of, (profile) => pool.succeeded(profile, modelOf(use.of)));
          if (use.type === 'abort') settle(use.of, () => undefined);
          if (use.type === 'fail') {
            const headers = use.retryAfter === undefined ? {} : { 'retry-after': String(use.retryAfter) };
            const error = classifyError({ status: use.status, headers }, { now: clock.now });
            settle(use.of, (profile) => pool.failed(profile, modelOf(use.of), error));
          }
          if (use.type === 'reset') pool.reset();
          if (use.type !== 'wait') continue;
          const end = clock.now + use.ms;
          for (;;) {
            const due = [...waiting].filter(([, { until }]) => until !== undefined && until <= end);
            const [first] = due.toSorted((one, other) => (one[1].until ?? 0) - (other[1].until ?? 0));
            if (first === undefined) break;
            clock.now = Math.max(clock.now, first[1].until ?? 0);
            look(first[0]);
          }
          clock.now = end;
        }
        // A call that was refused because of a probe looks again when the probe ends, even if its window is forgotten before.
        if ([...running.values()].some(({ isProbe }) => isProbe)) return;
        for (const [call, { until }] of waiting) {
          const found = take(`s${call}`, modelOf(call), 'alpha');
          expect(found).not.toHaveProperty('release');
          if (until !== undefined) expect((found as Unavailable).until ?? Infinity).toBeGreaterThanOrEqual(until);
        }
      }),
    );
  });
});

describe('a store that fails', () => {
  it('keeps cooldowns that it does not accept, and writes them once it does', async () => {
    const { pool: other, clock: otherClock } = setUp();
    let stored: PoolState = { version: 1, windows: {} };
    const faults: ('before' | 'after' | undefined)[] = ['before', 'after'];
    let updates = 0;
    const { clock, pool, who } = setUp({
      store: {
        read: () => stored,
        update: (change) => {
          const fault = faults[updates];
          updates += 1;
          if (fault === 'before') throw new Error('ENOSPC');
          stored = change(stored);
          if (fault === 'after') throw new Error('ECONNRESET');
          return stored;
        },
      },
    });
    for (const each of [pool, other]) each.failed('b1', 'm', quota);
    await pool.flush();
    const isAvailable = (): boolean => 'release' in pool.acquire({ provider: 'beta', model: 'm', session: 's' });
    for (const at of [1_000, 2_000, 32_000, 64_000, 96_000]) {
      clock.now = at;
      await pool.refresh();
      await pool.flush();
      expect([at, isAvailable()]).toEqual([at, false]);
    }
    otherClock.now = clock.now;
    expect([updates, pool.status()]).toEqual([3, other.status()]);
    expect(who('s')).toBe('a1');
  });

  it('is read and written again after the clock was set back by an hour', async () => {
    const read = vi.fn((): PoolState => ({ version: 1, windows: {} }));
    const update = vi.fn((): PoolState => {
      throw new Error('ENOSPC');
    });
    const { clock, pool } = setUp({ store: { read, update } });
    clock.now = 2 * 3_600_000;
    pool.failed('b1', 'm', quota);
    await pool.refresh();
    clock.now -= 3_600_000;
    await pool.refresh();
    await pool.flush();
    expect([read.mock.calls.length, update.mock.calls.length]).toEqual([2, 2]);
  });

  it('writes all pending changes at once', async () => {
    const update = vi.fn((change: (state: PoolState) => PoolState) => change({ version: 1, windows: {} }));
    const { pool } = setUp({ store: { read: () => ({ version: 1, windows: {} }), update } });
    for (const id of ['a1', 'a2', 'a3']) pool.failed(id, 'm', limited);
    await pool.flush();
    expect(update).toHaveBeenCalledTimes(1);
    expect(pool.status().map(({ failures }) => failures)).toEqual([1, 1, 1, 0]);
  });

  it.each([null, {}, { windows: null }, 'state'])('ignores %j as a state', async (answer) => {
    const errors: unknown[] = [];
    const store = { read: () => answer as never, update: () => answer as never };
    const { clock, pool } = setUp({ store, onStoreError: (error) => errors.push(error) });
    pool.failed('a1', 'm', limited);
    clock.now = 1_000;
    await pool.refresh();
    expect(pool.status()[0]?.failures).toBe(1);
  });
});

describe('a store that never settles', () => {
  it('delays one request by storeTimeoutMs and blocks no change', async () => {
    vi.useFakeTimers({ now: 0 });
    try {
      const errors: unknown[] = [];
      const never = async <Value>(): Promise<Value> => new Promise(() => undefined);
      const pool = createCredentialPool({
        profiles: [{ id: 'a1', provider: 'alpha', key: 'secret-key-1' }],
        store: { read: never, update: never },
        storeTimeoutMs: 500,
        onStoreError: (error) => errors.push(error),
      });
      const refreshed = pool.refresh();
      await vi.advanceTimersByTimeAsync(500);
      await expect(refreshed).resolves.toBeUndefined();
      expect(pool.refresh()).toBeUndefined();
      pool.failed('a1', 'm', { reason: 'rate-limit', retryable: true, scope: 'model' });
      const flushed = pool.flush();
      await vi.advanceTimersByTimeAsync(500);
      await expect(flushed).resolves.toBeUndefined();
      expect(errors).toMatchObject([{ code: 'store-timeout' }, { code: 'store-timeout' }]);
      expect(pool.status()[0]?.cooldowns).toHaveLength(1);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
