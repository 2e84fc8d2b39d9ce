import type { Inbox } from '@h/queue/inbox';
import { memorySessions } from '@h/turn';
import { expect, it, onTestFinished, vi } from 'vitest';
import { recoverMessages } from './embedded.js';

it('recovers messages behind a resumed turn although the disk fails meanwhile', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const left = [{ state: 'left' } as Awaited<ReturnType<Inbox['recover']>>[number]];
  const recover = vi
    .fn<Inbox['recover']>()
    .mockResolvedValueOnce(left)
    .mockRejectedValueOnce(new Error('EMFILE: too many open files'))
    .mockResolvedValueOnce(left)
    .mockResolvedValue([]);
  const problems: unknown[] = [];
  const recovering = recoverMessages({ recover }, memorySessions(), (problem) => problems.push(problem));
  await recovering.begun;
  await vi.advanceTimersByTimeAsync(10_000);
  expect([recover.mock.calls.length, problems]).toEqual([4, [new Error('EMFILE: too many open files')]]);
  expect(vi.getTimerCount()).toBe(0);
});
