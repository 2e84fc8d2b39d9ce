import { keep, notice, type NewEvent, type Usage } from '@h/turn';
import { comparePrefixes } from './drift.js';
import { toState, type KeptPrompt, type PrefixPrint } from './kept-prompt.js';

/** Key of the session state that stores the fingerprint of the last request. */
export const stateKey = 'prompt';

/** Detects changes in the stable prefix of a session's requests. */
export interface DriftWatch {
  /** Loads the stored fingerprint, if any. */
  recall(found: KeptPrompt | undefined): void;
  /** Compares an outgoing request with the previous one. @returns the notices to emit */
  asked(prefix: PrefixPrint): readonly NewEvent[];
  /** Checks the usage of the response. @returns the notices to emit and the state to store */
  answered(usage: Usage): readonly NewEvent[];
}

/**
 * Detects changes in the stable prefix, within a turn and since the previous one.
 *
 * @param remember called with the fingerprint of each answered request
 */
export const driftWatch = (remember: (kept: KeptPrompt) => void = () => undefined): DriftWatch => {
  let last: PrefixPrint | undefined;
  let cached = 0;
  let current: PrefixPrint | undefined;
  let isBroken = false;
  let kept: PrefixPrint | undefined;

  return {
    recall: (found) => {
      if (!found) return;
      last = found.prefix;
      cached = found.cached;
    },
    asked: (prefix) => {
      current = prefix;
      const changes = last === undefined || last === prefix ? [] : comparePrefixes(last, prefix);
      last = prefix;
      const [first] = changes;
      if (first === undefined) return [];
      isBroken = true;
      return [notice('cache.broken', { from: first.part, changes })];
    },
    answered: ({ cacheRead, cacheWrite }) => {
      if (current === undefined) return [];
      const events: NewEvent[] = [];
      if (isBroken) {
        const outcome = cached === 0 ? 'unknown' : cacheRead < cached ? 'lost' : 'kept';
        events.push(notice('cache.checked', { outcome, cacheRead, cachedBefore: cached }));
      }
      isBroken = false;
      cached = cacheRead + cacheWrite;
      if (kept === undefined || comparePrefixes(kept, current).length > 0) {
        const value: KeptPrompt = { prefix: current, cached };
        remember(value);
        events.push(keep(stateKey, toState(value)));
      }
      kept = current;
      return events;
    },
  };
};
