import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { stepBatch } from './step-batch.js';

const never = new AbortController().signal;

describe('stepBatch', () => {
  it('returns a single file immediately', async () => {
    const batch = stepBatch(1_000, new VirtualTimeScheduler());
    batch.expect(1, 'a');
    expect(await batch.arrive('a', 'a.ts', never)).toEqual(['a.ts']);
  });

  it('returns all distinct files to the first call, and none to the others', async () => {
    const scheduler = new VirtualTimeScheduler();
    const batch = stepBatch(1_000, scheduler);
    for (const call of ['a', 'b', 'c']) batch.expect(1, call);
    const answers = Promise.all([
      batch.arrive('a', 'a.ts', never),
      batch.arrive('b', 'a.ts', never),
      batch.arrive('c', 'c.ts', never),
    ]);
    expect(await answers).toEqual([['a.ts', 'c.ts'], [], []]);
    scheduler.flush();
    expect(scheduler.frame).toBe(0);
  });

  it('limits the wait for a call that never runs', async () => {
    const scheduler = new VirtualTimeScheduler();
    const batch = stepBatch(1_000, scheduler);
    batch.expect(1, 'a');
    batch.expect(1, 'b');
    const written = batch.arrive('a', 'a.ts', never);
    scheduler.flush();
    expect(scheduler.frame).toBe(1_000);
    expect(await written).toEqual(['a.ts']);
  });

  it('does not wait for calls of the previous step', async () => {
    const batch = stepBatch(1_000, new VirtualTimeScheduler());
    batch.expect(1, 'a');
    batch.expect(2, 'b');
    expect(await batch.arrive('b', 'b.ts', never)).toEqual(['b.ts']);
  });

  it('stops waiting when it is aborted', async () => {
    const scheduler = new VirtualTimeScheduler();
    const batch = stepBatch(1_000, scheduler);
    const controller = new AbortController();
    batch.expect(1, 'a');
    batch.expect(1, 'b');
    const written = batch.arrive('a', 'a.ts', controller.signal);
    controller.abort();
    expect(await written).toEqual([]);
    scheduler.flush();
    expect(scheduler.frame).toBe(0);
  });
});
