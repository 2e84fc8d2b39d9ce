import { NEVER } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watch } from '../../test/turns.js';
import { stop } from '../contract/decisions.js';
import type { TurnEnding } from '../contract/events.js';
import { harness } from '../harness.js';
import { intercept } from './intercept.js';
import { reply } from '../reply.js';
import { failure, scriptedModel } from '../testing/index.js';

describe('finalize', () => {
  const endings = () => {
    const told: (TurnEnding | undefined)[] = [];
    return { told, operator: intercept('last', () => ({ finalize: (ending) => void told.push(ending) })) };
  };

  it('receives the end of the turn', async () => {
    const { told, operator } = endings();
    await reply(
      harness({ model: scriptedModel(['Hi.']) })
        .pipe(operator)
        .turn({ session: 's', input: 'Hi' }),
    );
    const blocker = intercept('blocker', () => ({ decide: { 'model.request': () => stop('blocked', 'No.') } }));
    await reply(
      harness({ model: scriptedModel([]) })
        .pipe(operator, blocker)
        .turn({ session: 's', input: 'Hi' }),
    );
    await reply(
      harness({ model: scriptedModel([{ error: failure('Broken.') }]) })
        .pipe((source) => source, operator)
        .turn({ session: 's', input: 'Hi' }),
    );
    expect(told).toMatchObject([
      { outcome: 'completed' },
      { outcome: 'blocked', reason: 'No.' },
      { outcome: 'error', error: { message: 'Broken.' } },
    ]);
  });

  it('receives the cancellation when the subscriber leaves', () => {
    const { told, operator } = endings();
    watch(
      harness({ model: scriptedModel([{ never: [] }]) })
        .pipe(operator)
        .turn({ session: 's', input: 'Hi' }),
    ).subscription.unsubscribe();
    expect(told).toMatchObject([{ outcome: 'cancelled', reason: 'The subscriber unsubscribed.' }]);
  });

  it('receives nothing outside of a harness', () => {
    const { told, operator } = endings();
    NEVER.pipe(operator).subscribe().unsubscribe();
    expect(told).toEqual([undefined]);
  });
});

describe('after()', () => {
  beforeEach(() => vi.useFakeTimers({ now: 0 }));
  afterEach(() => vi.useRealTimers());

  const day = 24 * 3_600_000;
  const waiting = (delayMs: number) => {
    const calls: number[] = [];
    let cancel = (): void => undefined;
    const operator = intercept('later', ({ after, now }) => {
      cancel = after(delayMs, () => calls.push(now()));
      return {};
    });
    const subscription = NEVER.pipe(operator).subscribe();
    return { calls, subscription, cancel: () => cancel() };
  };

  it.each([1, 2 ** 31 - 1, 2 ** 31, 100 * day])('calls back after %d ms, however many that are', (delayMs) => {
    const { calls } = waiting(delayMs);
    vi.advanceTimersByTime(delayMs - 1);
    expect(calls).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(calls).toEqual([delayMs]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('never calls back after Infinity', () => {
    const { calls, cancel } = waiting(Infinity);
    vi.advanceTimersByTime(1000 * day);
    cancel();
    expect([calls, vi.getTimerCount()]).toEqual([[], 0]);
  });

  it.each([10, 30, 60])('leaves no timer when it is cancelled or its turn ends after %d days', (days) => {
    for (const end of ['cancel', 'leave'] as const) {
      const { calls, cancel, subscription } = waiting(61 * day);
      vi.advanceTimersByTime(days * day);
      if (end === 'cancel') cancel();
      else subscription.unsubscribe();
      expect(vi.getTimerCount()).toBe(0);
      vi.advanceTimersByTime(100 * day);
      expect(calls).toEqual([]);
    }
  });
});

describe('steer() with an id', () => {
  it('names the delivered message by it, and accepts each id once', async () => {
    const agent = harness({ model: scriptedModel(['One.', 'Two.'], { delayMs: 1 }) }).pipe();
    const taken: boolean[] = [];
    const watched = watch(agent.turn({ session: 's', input: 'Hi' }), (event) => {
      if (event.type !== 'model.request') return;
      taken.push(agent.steer('s', 'Hurry.', 'mine'), agent.steer('s', 'Hurry.', 'mine'));
    });
    await watched.done;
    expect(taken).toEqual([true, true, true, true]);
    expect(watched.all('input.received').map(({ id }) => id)).toEqual(['mine']);
    expect(watched.all('history.append').flatMap(({ delivers = [] }) => delivers)).toEqual(['mine']);
    expect(() => agent.steer('s', 'Hurry.', '')).toThrow('steer(): "id" must be');
  });
});

describe('handlers that all turns share', () => {
  it('receive the state of their turn, from start to finalize', async () => {
    const ended: string[] = [];
    const counter = intercept('counter', {
      setup: () => ({ calls: 0, isLive: false }),
      start: (state) => void (state.isLive = true),
      observe: { 'model.response': (state) => void (state.calls += 1) },
      decide: { 'turn.stop': (state, event) => ({ ...event, reason: `${state.calls} calls, live ${state.isLive}` }) },
      finalize: (state, ending) => void ended.push(`${state.calls} ${ending?.reason}`),
    });
    const agent = harness({ model: scriptedModel(['One.', 'Two.']) }).pipe(counter);
    await Promise.all(['a', 'b'].map((session) => watch(agent.turn({ session, input: 'Hi' })).done));
    expect(ended).toEqual(['1 1 calls, live true', '1 1 calls, live true']);
  });

  it('are not called without a state, after the setup failed', async () => {
    const calls: string[] = [];
    const broken = intercept('broken', {
      setup: (): object => {
        throw new Error('Boom.');
      },
      start: () => void calls.push('start'),
      observe: { '*': (_, { type }) => void calls.push(type) },
      decide: { '*': (_, { type }) => void calls.push(type) },
      finalize: () => void calls.push('finalize'),
    });
    const watched = watch(
      harness({ model: scriptedModel(['One.']) })
        .pipe(broken)
        .turn({ session: 's', input: 'Hi' }),
    );
    await watched.done;
    expect([watched.end.outcome, watched.end.error?.code, calls]).toEqual(['error', 'operator-failed', []]);
  });
});
