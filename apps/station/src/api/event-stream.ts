/** An event of a stream of server-sent events. */
export interface ServerSentEvent {
  /** @defaultValue none, which clients read as `message` */
  readonly event?: string | undefined;
  readonly id?: number | undefined;
  readonly data: unknown;
}

/** Interval of comments that keep a connection open through proxies, in milliseconds. */
const heartbeatMs = 15_000;

/** Options of {@link eventStream}. */
export interface EventStreamOptions {
  readonly signal: AbortSignal;
  /** Receives a function that ends the stream. */
  readonly onOpen?: (end: () => void) => void;
  readonly onClose?: () => void;
}

/**
 * Creates a response that sends events as the client reads them: a slow client slows the source down, and a client that
 * leaves ends it.
 *
 * @param start - creates the source; its signal is aborted when the client leaves
 */
export const eventStream = (
  start: (signal: AbortSignal) => AsyncGenerator<ServerSentEvent>,
  { signal, onOpen, onClose }: EventStreamOptions,
): Response => {
  const stop = new AbortController();
  const encoder = new TextEncoder();
  let source: AsyncGenerator<ServerSentEvent> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let next: Promise<IteratorResult<ServerSentEvent>> | undefined;
  const onAbort = (): void => stop.abort();
  const end = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    if (source) onClose?.();
    stop.abort();
    void source?.return(undefined).catch(() => undefined);
    source = undefined;
  };
  const heartbeat = (): Promise<'heartbeat'> =>
    new Promise((resolve) => {
      timer = setTimeout(() => resolve('heartbeat'), heartbeatMs);
    });
  const body = new ReadableStream<Uint8Array>(
    {
      start: () => {
        signal.addEventListener('abort', onAbort, { once: true });
        if (signal.aborted) stop.abort();
        source = start(stop.signal);
        onOpen?.(onAbort);
      },
      pull: async (controller) => {
        if (!source) return controller.close();
        next ??= source.next();
        const item = await Promise.race([next, heartbeat()]).catch((error: unknown) => {
          end(); // A stream that fails is not cancelled.
          throw error;
        });
        clearTimeout(timer);
        if (item === 'heartbeat') return controller.enqueue(encoder.encode(':\n\n'));
        next = undefined;
        if (item.done === true) {
          end();
          return controller.close();
        }
        return controller.enqueue(encoder.encode(textOf(item.value)));
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  );
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
  });
};

const textOf = ({ event, id, data }: ServerSentEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
