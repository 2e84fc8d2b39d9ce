import { isPromise } from '@h/turn';

/**
 * Calls a callback of the app. An error that it throws or rejects with goes to `onFailure` and does not fail the agent.
 */
export const tell = (callback: () => unknown, onFailure: () => void = () => undefined): void => {
  try {
    const result = callback();
    if (isPromise(result)) result.then(undefined, onFailure);
  } catch {
    onFailure();
  }
};
