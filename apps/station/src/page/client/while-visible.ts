import type { EventStream } from './event-stream.js';

/** Switching between tabs does not reconnect: a tab keeps its streams for this long after it was hidden. */
const hiddenMs = 2_000;
const backgroundLock = 'station-background';
/** A browser opens six connections to a host. One remains for requests, and one for a hidden tab. */
const shownLocks: readonly string[] = ['1', '2', '3', '4'].map((number) => `station-stream-${number}`);
/** Time after which a stream is closed if another one waits for its lock. */
const turnMs = 2_000;

/**
 * Opens a stream while the tab is visible, because a browser opens only six connections to a host for all of its tabs,
 * and requests wait for a free one. More streams than locks take turns; each continues where it was. Returns a function
 * that ends this.
 *
 * @param stream - is opened here if the tab is visible
 * @param hasBackground - whether the stream of one hidden tab stays open, so that its title is up to date
 */
export const whileVisible = (stream: EventStream, { hasBackground = false } = {}): (() => void) => {
  // Pages without TLS on other hosts than this one have no locks.
  const { locks } = navigator as { readonly locks?: LockManager };
  let timer: ReturnType<typeof setTimeout> | undefined;
  let shown: boolean | undefined;
  let left = new AbortController();
  const enter = (isShown: boolean): void => {
    if (shown === isShown) return;
    shown = isShown;
    left.abort();
    left = new AbortController();
    const { signal } = left;
    if (!isShown) {
      stream.pause();
      if (hasBackground) void locks?.request(backgroundLock, { signal }, () => open(stream, signal)).catch(ignore);
    } else if (locks === undefined) stream.resume();
    else void takeTurns(stream, locks, signal).catch(ignore);
  };
  const update = (): void => {
    clearTimeout(timer);
    if (document.visibilityState === 'hidden') timer = setTimeout(() => enter(false), hiddenMs);
    else enter(true);
  };
  enter(document.visibilityState !== 'hidden');
  document.addEventListener('visibilitychange', update);
  return () => {
    document.removeEventListener('visibilitychange', update);
    clearTimeout(timer);
    left.abort();
  };
};

/** A request for a lock is rejected when it is aborted. */
const ignore = (): void => undefined;

/** Opens the stream until the signal is aborted; it may be aborted already when the lock is granted. */
const open = async (stream: EventStream, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) return;
  stream.resume();
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
};

/** Opens the stream while it holds one of the locks, and lets streams that wait for the lock have their turn. */
const takeTurns = async (stream: EventStream, locks: LockManager, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    const name = await freestOf(locks);
    await locks.request(name, { signal }, async () => {
      if (signal.aborted) return;
      stream.resume();
      do await turn(signal);
      while (!signal.aborted && !(await isWanted(locks, name)));
      if (!signal.aborted) stream.pause();
    });
  }
};

const freestOf = async (locks: LockManager): Promise<string> => {
  const { held = [], pending = [] } = await locks.query();
  const loadOf = (name: string): number => [...held, ...pending].filter((lock) => lock.name === name).length;
  const loads = shownLocks.map(loadOf);
  return shownLocks[loads.indexOf(Math.min(...loads))] as string;
};

const isWanted = async (locks: LockManager, name: string): Promise<boolean> =>
  (await locks.query()).pending?.some((lock) => lock.name === name) ?? false;

const turn = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, turnMs);
    signal.addEventListener('abort', end);
  });
