import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { eventStream, type ServerSentEvent } from './event-stream.js';

it.each([
  ['ends', () => Promise.resolve()],
  ['fails', () => Promise.reject(new Error('The database is unavailable.'))],
  [
    'is waited for when the client leaves',
    (signal: AbortSignal) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  ],
])('leaves no listener and counts no stream when the source %s', async (_, rest) => {
  let open = 0;
  const { signal } = new AbortController();
  const source = async function* (stop: AbortSignal): AsyncGenerator<ServerSentEvent> {
    yield { data: 1 };
    await rest(stop);
  };
  const { body } = eventStream(source, { signal, onOpen: () => (open += 1), onClose: () => (open -= 1) });
  const reader = body?.getReader();
  expect((await reader?.read())?.done).toBe(false);
  expect(open).toBe(1);
  await Promise.race([reader?.closed.catch(() => undefined), new Promise((resolve) => setTimeout(resolve, 20))]);
  await reader?.cancel().catch(() => undefined);
  expect(open).toBe(0);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
