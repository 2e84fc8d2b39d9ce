import { describe, expect, it } from 'vitest';
import { harness, reply } from '@h/turn';
import {
  createCredentialPool,
  exponentialBackoff,
  failover,
  splitModelName,
  streamTimeouts,
  type FailoverOptions,
} from './index.js';
import { filePoolStore } from './file-store/index.js';
import { poolOf } from '../test/turns.js';
import { scriptedModel } from '@h/turn/testing';

const profile = { id: 'a', provider: 'alpha', key: 'secret-key-1' };

describe('options', () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      'an unknown option of failover',
      () => failover({ retries: 3 } as never),
      /failover\(\): unknown option "retries" \(received 3\)\. Did you mean "maxRetries"\? Known options: pool, models/,
    ],
    ['an array', () => failover([] as never), /options must be an object; received \[\]/],
    [
      'an object that is not a pool',
      () => failover({ pool: {} as never }),
      /"pool" must be an object with acquire\(\).*; received \{\}/,
    ],
    [
      'models that are not an array',
      () => failover({ models: 'gpt-5' as never }),
      /"models" must be an array in which each item is the name of a model .*; received "gpt-5"/,
    ],
    [
      'a model without a name',
      () => failover({ models: [''] }),
      /"models\[0\]" must be the name of a model or \{ model.*; received ""/,
    ],
    ['a model that is a number', () => failover({ models: [7 as never] }), /"models\[0\]" must be .*; received 7\./],
    [
      'a choice without a model',
      () => failover({ models: [{ provider: 'alpha' } as never] }),
      /"models\[0\]\.model" is required/,
    ],
    [
      'a choice with something unknown',
      () => failover({ models: [{ model: 'x', temperature: 1 } as never] }),
      /unknown option "models\[0\]\.temperature"/,
    ],
    [
      'a fraction of an attempt',
      () => failover({ maxAttempts: 0.5 }),
      /"maxAttempts" must be an integer from 1 or Infinity; received 0.5/,
    ],
    ['zero attempts', () => failover({ maxAttempts: 0 }), /"maxAttempts" must be .*; received 0/],
    ['a negative maxRetries', () => failover({ maxRetries: -1 }), /"maxRetries" must be .*; received -1/],
    ['NaN', () => failover({ maxElapsedMs: Number.NaN }), /"maxElapsedMs" must be .*; received NaN/],
    ['a negative wait', () => failover({ maxWaitMs: -5 }), /"maxWaitMs" must be .*; received -5/],
    [
      'a backoff that is not a function',
      () => failover({ backoff: 1_000 as never }),
      /"backoff" must be a function; received 1000/,
    ],
    [
      'an unknown reason',
      () => failover({ actions: { tired: { retry: true } } as never }),
      /unknown option "actions\.tired" .* Known options: rate-limit/,
    ],
    [
      'an unknown action',
      () => failover({ actions: { timeout: { sleep: true } as never } }),
      /unknown option "actions\.timeout\.sleep"/,
    ],
    [
      'an unknown option of the pool',
      () => createCredentialPool({ profiles: [], file: 'x' } as never),
      /createCredentialPool\(\): unknown option "file"/,
    ],
    ['no profiles', () => createCredentialPool({} as never), /"profiles" is required; it must be an array/],
    [
      'a profile without a provider',
      () => createCredentialPool({ profiles: [{ id: 'a', key: 'secret-key-1' } as never] }),
      /"profiles\[0\]\.provider" is required/,
    ],
    [
      'a profile with an invalid key',
      () => createCredentialPool({ profiles: [{ ...profile, key: 7 as never }] }),
      /"profiles\[0\]\.key" must be .*; received a value of the type number/,
    ],
    [
      'an id of two lines',
      () => createCredentialPool({ profiles: [{ ...profile, id: 'a\nb' }] }),
      /"profiles\[0\]\.id" must be a string of one line/,
    ],
    [
      'an id used twice',
      () => createCredentialPool({ profiles: [profile, profile] }),
      /"profiles\[1\]\.id" must be unique; another profile also has the id "a"/,
    ],
    [
      'a variable without a name',
      () => createCredentialPool({ profiles: [{ ...profile, key: { name: 'X' } as never }] }),
      /unknown option "profiles\[0\]\.key\.name" .* Known options: env/,
    ],
    [
      'an invalid cooldown',
      () => createCredentialPool({ profiles: [], cooldowns: { auth: 5 as never } }),
      /"cooldowns\.auth" must be { baseMs, factor, maxMs \} or false; received 5/,
    ],
    ['an unknown option of the backoff', () => exponentialBackoff({ max: 5 } as never), /unknown option "max"/],
    [
      'more jitter than there is',
      () => exponentialBackoff({ jitter: 2 }),
      /"jitter" must be a number from 0 to 1; received 2/,
    ],
    [
      'an unknown option of the timeouts',
      () => streamTimeouts(scriptedModel([]), { ttfb: 5 } as never),
      /streamTimeouts\(\): unknown option "ttfb"/,
    ],
    ['a store without a path', () => filePoolStore({} as never), /"path" is required/],
  ])('rejects %s', (_, make, message) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(message) as string }),
    );
  });

  it('never appear with a key', () => {
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

  it('accept undefined and have defaults', () => {
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

describe('results of functions in the options', () => {
  const serverError = { error: { name: 'APICallError', message: 'Broken', status: 500 } };

  it.each<[string, FailoverOptions, RegExp]>([
    ['nothing', { classify: () => undefined as never }, /"classify" must return \{ reason, .*; received undefined/],
    [
      'an unknown reason',
      { classify: () => ({ reason: 'tired', scope: 'service', retryable: true }) as never },
      /failover\(\): "classify" must return .* received \{"reason":"tired"/,
    ],
    [
      'an unknown scope',
      { classify: () => ({ reason: 'quota', scope: 'all', retryable: true }) as never },
      /"classify"/,
    ],
    ['NaN', { backoff: () => Number.NaN }, /"backoff" must return a number of milliseconds; received NaN/],
    ['a string', { backoff: () => '5' as never }, /"backoff" must return a number of milliseconds; received "5"/],
  ])('end the turn with an error that names the option if they are %s', async (_what, options, message) => {
    const agent = harness({ model: scriptedModel([serverError, 'Hello.']) }).pipe(failover(options));
    const { outcome, error } = await reply(agent.turn({ session: 'alice', input: 'Go.' }));
    expect([outcome, error?.message]).toEqual(['error', expect.stringMatching(message)]);
  });
});
