import type { EventStream } from './event-stream.js';

/** Switching between tabs does not reconnect: a tab keeps its streams for this long after it was hidden. */
const hiddenMs = 2_000;
const lockName = 'station-background';

/**
 * Pauses a stream while the tab is hidden, because a browser opens only six connections to a host for all of its tabs,
 * and requests wait for a free one. Returns a function that ends this.
 *
 * @param stream - is opened here if the tab is visible
 * @param hasBackground - whether the stream of one hidden tab stays open, so that its title is up to date
 */
export const whileVisible = (stream: EventStream, { hasBackground = false } = {}): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let shown = new AbortController();
  const pause = (): void => {
    stream.pause();
    const { signal } = shown;
    if (!hasBackground || signal.aborted) return;
    // Pages without TLS on other hosts than this one have no locks.
    const { locks } = navigator as { readonly locks?: LockManager };
    const read = (): Promise<void> =>
      new Promise((resolve) => {
        // The tab may be shown after the lock was granted.
        if (signal.aborted) return resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
        stream.resume();
      });
    locks?.request(lockName, { signal }, read).catch(() => undefined);
  };
  const update = (): void => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') timer = setTimeout(pause, hiddenMs);
    else {
      shown.abort();
      shown = new AbortController();
      stream.resume();
    }
  };
  if (document.visibilityState === 'hidden') pause();
  else stream.resume();
  document.addEventListener('visibilitychange', update);
  return () => {
    document.removeEventListener('visibilitychange', update);
    clearTimeout(timer);
    shown.abort();
  };
};
