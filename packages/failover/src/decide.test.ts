import { errorReasons, type ErrorClass, type ErrorReason } from '@h/provider-errors';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { poolOf } from '../test/turns.js';
import { chainOf } from './chain.js';
import { decide, excludedModels, select, type DecisionLimits } from './decide.js';
import { isFinal, reasonActions } from './reason-actions.js';

const limits: DecisionLimits = {
  actions: reasonActions,
  maxRetries: 3,
  maxAttempts: 12,
  maxElapsedMs: 600_000,
  maxWaitMs: 60_000,
  maxStatedWaitMs: 600_000,
  backoff: (retry) => retry * 1_000,
  random: () => 0,
};
const failure = (reason: ErrorReason, more: Partial<ErrorClass> = {}): ErrorClass => ({
  reason,
  ...errorReasons[reason],
  ...more,
});
const first = { startedAt: 0, failedCalls: 1, failuresOfLast: 1 };
const reasons = Object.keys(errorReasons) as ErrorReason[];

describe('decide', () => {
  it.each<[ErrorReason, string]>([
    ['rate-limit', 'switch'],
    ['quota', 'switch'],
    ['auth', 'switch'],
    ['not-found', 'switch'],
    ['invalid-request', 'switch'],
    ['overloaded', 'retry'],
    ['network', 'retry'],
    ['timeout', 'retry'],
    ['server-error', 'retry'],
    ['unknown', 'retry'],
    ['context-overflow', 'pass'],
    ['content-filter', 'pass'],
    ['aborted', 'pass'],
  ])('answers the first %s with %s', (reason, kind) => {
    expect(decide(failure(reason), 0, first, limits).kind).toBe(kind);
  });

  it('retries up to maxRetries, then switches', () => {
    const plans = [1, 2, 3, 4].map((failuresOfLast) =>
      decide(failure('network'), 0, { ...first, failuresOfLast }, limits),
    );
    expect(plans).toEqual([
      { kind: 'retry', delayMs: 1_000 },
      { kind: 'retry', delayMs: 2_000 },
      { kind: 'retry', delayMs: 3_000 },
      { kind: 'switch' },
    ]);
  });

  it('never waits less than the provider asks, longer than maxWaitMs, or beyond maxElapsedMs', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...reasons),
        fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
        fc.integer({ min: 0, max: 700_000 }),
        fc.integer({ min: 1, max: 20 }),
        (reason, retryAfterMs, at, failedCalls) => {
          const plan = decide(failure(reason, { retryAfterMs }), at, { ...first, failedCalls }, limits);
          if (plan.kind !== 'retry') return;
          expect(plan.delayMs).toBeGreaterThanOrEqual(retryAfterMs ?? 0);
          expect(plan.delayMs).toBeLessThanOrEqual(limits.maxWaitMs);
          expect(at + plan.delayMs).toBeLessThanOrEqual(limits.maxElapsedMs);
          expect(failedCalls).toBeLessThan(limits.maxAttempts);
        },
      ),
    );
  });

  it('passes what no action can help, whatever has happened before', () => {
    fc.assert(
      fc.property(fc.constantFrom(...reasons), fc.nat(20), (reason, failuresOfLast) => {
        const plan = decide(failure(reason), 0, { ...first, failuresOfLast }, limits);
        expect(plan.kind === 'pass').toBe(isFinal(reasonActions[reason]));
      }),
    );
  });
});

describe('excludedModels', () => {
  const chain = chainOf(undefined, ['alpha/one', 'beta/two'], undefined);

  it.each<[string, ErrorClass, boolean, readonly string[]]>([
    ['a model without a cooldown', failure('unknown'), false, ['alpha/one']],
    ['nothing while a cooldown keeps the model out', failure('network'), true, []],
    ['nothing while other credentials may work', failure('rate-limit'), true, []],
    ['a model that rejects the request', failure('invalid-request'), false, ['alpha/one']],
    ['all models if there is no fallback', failure('empty-response'), false, ['alpha/one', 'beta/two']],
  ])('excludes %s', (_, given, hasCooldown, expected) => {
    expect(excludedModels(given, hasCooldown, 'alpha/one', chain, reasonActions)).toEqual(expected);
  });
});

describe('select', () => {
  const chain = chainOf(undefined, ['alpha/one'], undefined);
  const state = { session: 's', chain, current: 0, excluded: new Set<string>() };
  const select429 = (headers: Record<string, string>, now = 0) => {
    const pool = poolOf({ now: () => now });
    for (const id of ['a1', 'a2']) {
      const retryAfterMs = headers['retry-after'] === undefined ? undefined : Number(headers['retry-after']) * 1_000;
      pool.failed(id, 'alpha/one', failure('rate-limit', { retryAfterMs }), 0);
    }
    return select(state, pool, now, first, limits);
  };

  it('waits for as long as the provider asks, within maxElapsedMs', () => {
    expect(select429({ 'retry-after': '300' })).toMatchObject({ kind: 'wait', delayMs: 300_000 });
    expect(select429({ 'retry-after': '601' })).toEqual({
      kind: 'exhausted',
      availableAt: 601_000,
      limit: 'maxStatedWaitMs',
    });
  });

  it('waits no longer than maxStatedWaitMs for a cooldown that the provider asked for', () => {
    const pool = poolOf({ now: () => 0 });
    for (const id of ['a1', 'a2']) pool.failed(id, 'alpha/one', failure('rate-limit', { retryAfterMs: 7_000 }), 0);
    const selection = (maxStatedWaitMs: number) => select(state, pool, 0, first, { ...limits, maxStatedWaitMs });
    expect(selection(7_000)).toMatchObject({ kind: 'wait', delayMs: 7_000 });
    expect(selection(0)).toEqual({ kind: 'exhausted', availableAt: 7_000, limit: 'maxStatedWaitMs' });
  });

  it('waits up to maxWaitMs for a cooldown that the provider did not ask for', () => {
    expect(select429({})).toMatchObject({ kind: 'wait', delayMs: 60_000, reason: 'rate-limit' });
    const pool = poolOf({ now: () => 0 });
    for (const id of ['a1', 'a2']) pool.failed(id, 'alpha/one', failure('auth'), 0);
    expect(select(state, pool, 0, first, limits)).toEqual({
      kind: 'exhausted',
      availableAt: 300_000,
      limit: 'maxWaitMs',
    });
  });

  it.each([
    ['maxAttempts', { ...first, failedCalls: limits.maxAttempts }, 0],
    ['maxElapsedMs', { ...first, failedCalls: 1 }, limits.maxElapsedMs + 1],
  ])('names %s if it excludes a credential that is available', (limit, progress, now) => {
    const exhausted = { kind: 'exhausted', availableAt: undefined, limit };
    expect(select(state, poolOf({ now: () => now }), now, progress, limits)).toEqual(exhausted);
  });

  it('is exhausted without a candidate', () => {
    expect(select({ ...state, excluded: new Set(['alpha/one']) }, poolOf(), 0, first, limits)).toEqual({
      kind: 'exhausted',
      availableAt: undefined,
    });
  });
});
