import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { isTemporary } from '../client/api.js';
import type { StationClient } from '../client/station-client.js';

/** What every view needs. */
export interface App {
  readonly station: StationClient;
  /** Shows a message for a few seconds. */
  readonly notify: (text: string, kind?: 'error' | 'info') => void;
  /** Shows the error of a request in words; use it as the last handler of an action. */
  readonly fail: (error: unknown) => void;
}

export const AppContext = createContext<App | undefined>(undefined);

export const useApp = (): App => {
  const app = useContext(AppContext);
  if (!app) throw new Error('A view was rendered outside of the page.');
  return app;
};

/** The time, renewed at an interval while the tab is visible. */
export const useNow = (intervalMs = 1000): number => {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === 'visible' && setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
  return now;
};

const retryMs = 5_000;

/**
 * The result of a request; `undefined` while it runs. It runs again when a dependency changes, and after failures that
 * may be temporary.
 */
export const useLoaded = <Value>(load: () => Promise<Value>, dependencies: readonly unknown[]): Value | undefined => {
  const { fail } = useApp();
  const [value, setValue] = useState<Value>();
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const attempt = (isFirst: boolean): void => {
      load().then(
        (loaded) => isCurrent && setValue(loaded),
        (error: unknown) => {
          if (!isCurrent) return;
          if (isTemporary(error)) timer = setTimeout(() => attempt(false), retryMs);
          if (isFirst || !isTemporary(error)) fail(error);
        },
      );
    };
    attempt(true);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, dependencies);
  return value;
};

/** Whether a media query matches, kept up to date. */
export const useMedia = (query: string): boolean => {
  const [isMatch, setMatch] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = (): void => setMatch(list.matches);
    update();
    list.addEventListener('change', update);
    return () => list.removeEventListener('change', update);
  }, [query]);
  return isMatch;
};

export const phone = '(max-width: 760px)';
