import { describe, expect, it } from 'vitest';
import { loadAll, type LoadOptions } from './load.js';

/** A turn whose timers and listeners can be counted. */
const turn = () => {
  const timers = new Set<() => void>();
  const controller = new AbortController();
  const listeners = new Set<unknown>();
  const { signal } = controller;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...given: Parameters<typeof add>) => {
    listeners.add(given[1]);
    add(...given);
  };
  const remove = signal.removeEventListener.bind(signal);
  signal.removeEventListener = (...given: Parameters<typeof remove>) => {
    listeners.delete(given[1]);
    remove(...given);
  };
  let asked = 0;
  const options: LoadOptions = {
    deadlineMs: 100,
    after: (_, callback) => {
      timers.add(callback);
      return () => timers.delete(callback);
    },
    turnSignal: () => {
      asked += 1;
      return signal;
    },
  };
  return { options, timers, listeners, controller, asked: () => asked };
};

describe('loadAll', () => {
  it('returns synchronously for synchronous jobs and creates no signal', () => {
    const { options, timers, asked } = turn();
    const results = loadAll(
      [
        { start: () => 1 },
        {
          start: () => {
            throw new Error('No.');
          },
        },
      ],
      options,
    );
    expect(results).toEqual([
      { ok: true, value: 1 },
      { ok: false, reason: 'failed', message: 'No.' },
    ]);
    expect([timers.size, asked()]).toEqual([0, 0]);
  });

  it('leaves no timer and no listener, however jobs end', async () => {
    const { options, timers, listeners } = turn();
    const results = loadAll(
      [
        { start: async () => Promise.resolve(1) },
        { start: async () => Promise.reject(new Error('No.')) },
        { start: async () => new Promise<number>(() => undefined) },
      ],
      options,
    );
    expect([timers.size, listeners.size]).toEqual([3, 3]);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect([timers.size, listeners.size]).toEqual([1, 1]);
    for (const callback of timers) callback();
    expect(await results).toMatchObject([{ value: 1 }, { reason: 'failed' }, { reason: 'timed-out' }]);
    expect(listeners.size).toBe(0);
  });

  it('aborts when the turn ends, or has already ended', async () => {
    const { options, controller, timers } = turn();
    const never = { start: async () => new Promise<number>(() => undefined) };
    const open = loadAll([never], options);
    controller.abort();
    expect(await open).toMatchObject([
      { reason: 'timed-out', message: 'The turn ended before the section was loaded.' },
    ]);
    expect(await loadAll([never], options)).toMatchObject([{ reason: 'timed-out' }]);
    expect(timers.size).toBe(0);
  });

  it('aborts a job that reads its signal after the timeout', async () => {
    const { options, timers } = turn();
    let signalOf: (() => AbortSignal) | undefined;
    const results = loadAll(
      [
        {
          start: async (signal) => {
            signalOf = signal;
            return new Promise<number>(() => undefined);
          },
        },
      ],
      options,
    );
    for (const callback of timers) callback();
    await results;
    expect(signalOf?.().aborted).toBe(true);
  });
});
