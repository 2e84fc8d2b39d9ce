import { describe, expect, it } from 'vitest';
import { createCredentialPool, exponentialBackoff, failover, splitModelName, streamTimeouts } from './index.js';
import { filePoolStore } from './file-store/index.js';
import { poolOf } from '../test/turns.js';
import { scriptedModel } from '@h/turn/testing';

const profile = { id: 'a', provider: 'alpha', key: 'secret-key-1' };

describe('options', () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      'an unknown one of failover',
      () => failover({ retries: 3 } as never),
      /failover\(\) has no option "retries" \(it was given 3\); did you mean "maxRetries"\? It knows pool, models/,
    ],
    ['no object', () => failover([] as never), /takes an object of options; it was given \[\]/],
    [
      'a pool that is none',
      () => failover({ pool: {} as never }),
      /takes an object with acquire\(\).* as "pool"; it was given \{\}/,
    ],
    [
      'models that are no list',
      () => failover({ models: 'gpt-5' as never }),
      /takes a list of which each is the name of a model .* as "models"; it was given "gpt-5"/,
    ],
    [
      'a model without a name',
      () => failover({ models: [''] }),
      /takes the name of a model or \{ model.* as "models\[0\]"; it was given ""/,
    ],
    ['a model that is a number', () => failover({ models: [7 as never] }), /models\[0\].* it was given 7/],
    [
      'a choice without a model',
      () => failover({ models: [{ provider: 'alpha' } as never] }),
      /needs "models\[0\]\.model"/,
    ],
    [
      'a choice with something unknown',
      () => failover({ models: [{ model: 'x', temperature: 1 } as never] }),
      /has no option "models\[0\]\.temperature"/,
    ],
    [
      'a fraction of an attempt',
      () => failover({ maxAttempts: 0.5 }),
      /whole number from 1 or Infinity as "maxAttempts"; it was given 0.5/,
    ],
    ['no attempt', () => failover({ maxAttempts: 0 }), /"maxAttempts"; it was given 0/],
    ['less than no retry', () => failover({ maxRetries: -1 }), /"maxRetries"; it was given -1/],
    ['NaN', () => failover({ maxElapsedMs: Number.NaN }), /"maxElapsedMs"; it was given NaN/],
    ['a negative wait', () => failover({ maxWaitMs: -5 }), /"maxWaitMs"; it was given -5/],
    ['a backoff that is no function', () => failover({ backoff: 1_000 as never }), /takes a function as "backoff"/],
    [
      'an unknown reason',
      () => failover({ actions: { tired: { retry: true } } as never }),
      /has no option "actions\.tired" .*; it knows rate-limit/,
    ],
    [
      'an unknown action',
      () => failover({ actions: { timeout: { sleep: true } as never } }),
      /has no option "actions\.timeout\.sleep"/,
    ],
    [
      'an unknown option of the pool',
      () => createCredentialPool({ profiles: [], file: 'x' } as never),
      /createCredentialPool\(\) has no option "file"/,
    ],
    ['no profiles', () => createCredentialPool({} as never), /needs "profiles": a list/],
    [
      'a profile without a provider',
      () => createCredentialPool({ profiles: [{ id: 'a', key: 'secret-key-1' } as never] }),
      /needs "profiles\[0\]\.provider"/,
    ],
    [
      'a profile with a key that is none',
      () => createCredentialPool({ profiles: [{ ...profile, key: 7 as never }] }),
      /as "profiles\[0\]\.key"; it was given a value of the type number/,
    ],
    [
      'an id of two lines',
      () => createCredentialPool({ profiles: [{ ...profile, id: 'a\nb' }] }),
      /takes a text of one line as "profiles\[0\]\.id"/,
    ],
    [
      'an id used twice',
      () => createCredentialPool({ profiles: [profile, profile] }),
      /an id of its own for each profile as "profiles\[1\]\.id"; another profile has "a"/,
    ],
    [
      'a variable without a name',
      () => createCredentialPool({ profiles: [{ ...profile, key: { name: 'X' } as never }] }),
      /has no option "profiles\[0\]\.key\.name" .*; it knows env/,
    ],
    [
      'a cooldown that is none',
      () => createCredentialPool({ profiles: [], cooldowns: { auth: 5 as never } }),
      /takes \{ baseMs, factor, maxMs \} or false as "cooldowns\.auth"; it was given 5/,
    ],
    ['an unknown option of the backoff', () => exponentialBackoff({ max: 5 } as never), /has no option "max"/],
    [
      'more jitter than there is',
      () => exponentialBackoff({ jitter: 2 }),
      /a number from 0 to 1 as "jitter"; it was given 2/,
    ],
    [
      'an unknown option of the timeouts',
      () => streamTimeouts(scriptedModel([]), { ttfb: 5 } as never),
      /streamTimeouts\(\) has no option "ttfb"/,
    ],
    ['a store without a path', () => filePoolStore({} as never), /needs "path": a text/],
  ])('refuse %s', (_, make, message) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(message) as string }),
    );
  });

  it('never quote a key', () => {
    for (const broken of [
      { ...profile, id: '' },
      { ...profile, key: ['secret-key-1'] as never },
      { ...profile, colour: 1 },
    ]) {
      expect(() => createCredentialPool({ profiles: [broken] })).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('secret-key-1') as string }),
      );
    }
  });

  it('may be undefined, and have good defaults', () => {
    expect(() => failover({ pool: poolOf(), models: undefined, backoff: undefined })).not.toThrow();
    const delays = [1, 2, 3, 4, 5, 6, 7].map((retry) => exponentialBackoff()(retry, 0));
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(exponentialBackoff()(1, 1)).toBe(500);
    expect(exponentialBackoff({ initialMs: 10, factor: 3, maxMs: 50, jitter: 0 })(2, 1)).toBe(30);
  });
});

describe('splitModelName', () => {
  it.each([
    ['anthropic/claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
    ['openrouter/qwen/qwen3:free', 'openrouter', 'qwen/qwen3:free'],
    ['gpt-5', undefined, 'gpt-5'],
    ['/odd', undefined, '/odd'],
  ])('splits %s', (name, provider, model) => {
    expect(splitModelName(name)).toEqual({ provider, model });
  });
});
