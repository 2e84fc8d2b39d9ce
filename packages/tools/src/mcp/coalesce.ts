/** Work that many notifications request. */
export interface Coalesced {
  /** Runs the work now, or once after the running work and the interval. */
  request(): void;
  /** Cancels scheduled work. Running work completes. */
  stop(): void;
}

/**
 * Merges requests for the same work: the first runs at once, and all that arrive while it runs or within `intervalMs`
 * after it are answered by one more run.
 *
 * @param work must not reject
 */
export const coalesce = (work: () => Promise<void>, intervalMs: number): Coalesced => {
  let isBusy = false;
  let isRequested = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const run = async (): Promise<void> => {
    isBusy = true;
    isRequested = false;
    await work();
    if (isStopped) return;
    timer = setTimeout(() => {
      timer = undefined;
      isBusy = false;
      if (isRequested) void run();
    }, intervalMs);
    timer.unref();
  };
  return {
    request: () => {
      if (isStopped) return;
      if (isBusy) isRequested = true;
      else void run();
    },
    stop: () => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
};
