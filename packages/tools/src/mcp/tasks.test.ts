import type { Client } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { followTask, type TaskState } from './tasks.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Follows a task whose states a server returns one after another. Records when each was requested, in milliseconds. */
const follow = (
  states: readonly Partial<TaskState>[],
): { readonly result: Promise<unknown>; readonly requestedAt: number[] } => {
  const [first, ...later] = states.map((state): TaskState => ({ taskId: 'task-1', status: 'working', ...state }));
  const requestedAt: number[] = [];
  const client = {
    request: () => {
      requestedAt.push(vi.getMockedSystemTime()?.getTime() ?? Number.NaN);
      return Promise.resolve(later.shift());
    },
  } as unknown as Client;
  vi.setSystemTime(0);
  const result = followTask(first as TaskState, {
    signal: new AbortController().signal,
    client: () => Promise.resolve(client),
    answer: () => Promise.resolve({}),
    onStatus: () => undefined,
  });
  return { result, requestedAt };
};

it('requests the state of a task at the interval that the server names, within bounds', async () => {
  const { result, requestedAt } = follow([
    {},
    { pollIntervalMs: 5_000 },
    { pollIntervalMs: 0 },
    { pollIntervalMs: 1e9 },
    { status: 'completed', result: 'built' },
  ]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(requestedAt).toEqual([1_000, 6_000, 6_050, 36_050]);
  await expect(result).resolves.toBe('built');
});

it('requests the result of a task that ended at once without a pause', async () => {
  const { result, requestedAt } = follow([{ status: 'completed' }, { status: 'completed', result: 'built' }]);
  await expect(result).resolves.toBe('built');
  expect(requestedAt).toEqual([0]);
});
