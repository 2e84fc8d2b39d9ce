/** Calls back when a signal is or was aborted. @returns a function that stops listening */
export const whenAborted = (signal: AbortSignal | undefined, callback: () => void): (() => void) => {
  if (signal?.aborted) callback();
  signal?.addEventListener('abort', callback, { once: true });
  return () => signal?.removeEventListener('abort', callback);
};
