/** Tells the app something. That it fails, at once or later, is no failure of an agent; `onFailure` hears of it. */
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
