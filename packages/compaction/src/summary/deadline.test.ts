import { describe, expect, it } from 'vitest';
import { manualTimers } from '../../test/contexts.js';
import { pause, unlessAborted, withDeadline } from './deadline.js';

describe('withDeadline', () => {
  it('gives the result, and leaves no timer', async () => {
    const timers = manualTimers();
    expect(
      await withDeadline(10, { after: timers.after, signal: new AbortController().signal }, () => Promise.resolve(1)),
    ).toBe(1);
    expect(timers.waiting).toEqual([]);
  });

  it('does not wait for aborted work', async () => {
    const { after } = manualTimers();
    const work = withDeadline(10, { after, signal: AbortSignal.abort() }, () => new Promise(() => undefined));
    await expect(work).rejects.toMatchObject({ reason: 'cancelled' });
  });

  it('gives up at the deadline of the turn if that is earlier', async () => {
    const timers = manualTimers();
    const context = { after: timers.after, signal: new AbortController().signal, timeLeft: () => 2000 };
    const work = withDeadline(60_000, context, () => new Promise(() => undefined));
    timers.pass(2000);
    await expect(work).rejects.toMatchObject({
      reason: 'timed-out',
      message: 'The work took longer than 2 s, the time that the turn had left.',
    });
  });

  it('lets an error of the work out as it is', async () => {
    const { after } = manualTimers();
    const error = new DOMException('The operation timed out.', 'TimeoutError');
    await expect(
      withDeadline(10, { after, signal: new AbortController().signal }, () => Promise.reject(error)),
    ).rejects.toBe(error);
  });
});

describe('pause', () => {
  it('ends in time, or with the work', async () => {
    const timers = manualTimers();
    const controller = new AbortController();
    const short = pause(10, { after: timers.after, signal: controller.signal });
    const long = pause(100, { after: timers.after, signal: controller.signal });
    timers.pass(10);
    await expect(short).resolves.toBeUndefined();
    controller.abort(new Error('Over.'));
    await expect(long).rejects.toThrow('Over.');
    await expect(pause(10, { after: timers.after, signal: controller.signal })).rejects.toThrow('Over.');
    expect(timers.waiting).toEqual([]);
  });
});

describe('unlessAborted', () => {
  it('gives what the work gives, or the reason', async () => {
    const { signal } = new AbortController();
    await expect(unlessAborted(signal, Promise.resolve(1))).resolves.toBe(1);
    await expect(unlessAborted(AbortSignal.abort(new Error('Over.')), new Promise(() => undefined))).rejects.toThrow(
      'Over.',
    );
  });
});
