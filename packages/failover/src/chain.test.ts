import { describe, expect, it } from 'vitest';
import { chainOf } from './chain.js';
import { eventsLater } from './events-later.js';

describe('chainOf', () => {
  it('puts the model of the request first, and each one once, with what is said about it', () => {
    const small = { model: 'small', provider: 'beta', settings: { maxOutputTokens: 5 } };
    expect(chainOf('b/2', ['a/1', 'b/2', small, 'a/1'], undefined)).toEqual([
      { model: 'b/2', provider: 'b', settings: undefined },
      { model: 'a/1', provider: 'a', settings: undefined },
      small,
    ]);
    expect(chainOf('small', ['a/1', small], 'c').map(({ provider }) => provider)).toEqual(['beta', 'a']);
  });

  it('takes a bare name for one of the only provider, and nothing for the choice of the driver', () => {
    expect(chainOf('gpt-5', [], 'openai')).toEqual([{ model: 'gpt-5', provider: 'openai', settings: undefined }]);
    expect(chainOf(undefined, [], undefined)).toEqual([{ model: undefined, provider: undefined, settings: undefined }]);
  });
});

describe('eventsLater', () => {
  const setUp = () => {
    const timers = new Set<() => void>();
    const listeners = new Set<() => void>();
    const after = (_: number, callback: () => void): (() => void) => {
      timers.add(callback);
      return () => void timers.delete(callback);
    };
    const wakeUp = (listener: () => void): (() => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    };
    return { timers, listeners, after, wakeUp };
  };

  it('leaves no timer and no listener, whether it is left or has ended', () => {
    const { timers, listeners, after, wakeUp } = setUp();
    const later = eventsLater({ after }, [], 5, { wakeUp, next: () => ({ events: [] }) });
    const left = later.subscribe();
    expect([timers.size, listeners.size]).toEqual([1, 1]);
    left.unsubscribe();
    expect([timers.size, listeners.size]).toEqual([0, 0]);
    later.subscribe();
    for (const wake of listeners) wake();
    expect([timers.size, listeners.size]).toEqual([0, 0]);
  });
});
