import { setImmediate } from 'node:timers/promises';
import type { FetchLike } from '@modelcontextprotocol/client';
import { MessageTooLargeError } from './failures.js';

/** Maximum size of the body of a failed response, which becomes a part of an error message. */
const maxFailureBytes = 16_384;

const newline = 10;
const carriageReturn = 13;

/**
 * Returns a `fetch` whose responses fail when a message is larger than the limit: the whole body, or one event of an
 * event stream. The body of a failed response is cut.
 *
 * @param onEventTooLarge - receives the body of the request whose stream has ended with an event that is too large. A
 *   reader of the stream does not receive the reason of its end.
 */
export const boundedFetch =
  (fetch: FetchLike, maxBytes: number, onEventTooLarge: (request: unknown) => void): FetchLike =>
  async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const count = isStream ? eventSize() : bodySize();
    let left = response.ok ? Infinity : maxFailureBytes;
    const limited = new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) => {
        // A stream of any number of small messages must not block timers.
        await setImmediate();
        if (chunk.byteLength > left) {
          controller.enqueue(chunk.subarray(0, left));
          return controller.terminate();
        }
        left -= chunk.byteLength;
        if (count(chunk) <= maxBytes) return controller.enqueue(chunk);
        if (isStream) onEventTooLarge(init?.body);
        return controller.error(new MessageTooLargeError(maxBytes));
      },
    });
    const { status, statusText, headers } = response;
    const bounded = new Response(response.body.pipeThrough(limited), { status, statusText, headers });
    // A constructed response has no URL, by which the SDK recognizes redirects.
    return Object.defineProperties(bounded, {
      url: { value: response.url },
      redirected: { value: response.redirected },
    });
  };

const bodySize = (): ((chunk: Uint8Array) => number) => {
  let size = 0;
  return (chunk) => {
    size += chunk.byteLength;
    return size;
  };
};

/** Counts the bytes of the current event. Events end with an empty line. */
const eventSize = (): ((chunk: Uint8Array) => number) => {
  let size = 0;
  let isLineEmpty = true;
  let largest = 0;
  return (chunk) => {
    largest = 0;
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      const isEmpty = isLineEmpty && (at === from || (at === from + 1 && chunk[from] === carriageReturn));
      size += at - from + 1;
      largest = Math.max(largest, size);
      if (isEmpty) size = 0;
      isLineEmpty = true;
      from = at + 1;
    }
    size += chunk.byteLength - from;
    if (from < chunk.byteLength) isLineEmpty = false;
    return Math.max(largest, size);
  };
};
