/** Calls a callback of the app. An error that it throws or rejects with goes to `onFailure` and does not fail the agent. */
export const tell = (callback: () => unknown, onFailure: () => void = () => undefined): void => {
  try {
    const result = callback();
    if (isThenable(result)) result.then(undefined, onFailure);
  } catch {
    onFailure();
  }
};

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
