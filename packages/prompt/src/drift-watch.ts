import { keep, notice, type NewEvent, type Usage } from '@h/turn';
import { comparePrefixes } from './drift.js';
import { toState, type KeptPrompt, type PrefixPrint } from './kept-prompt.js';

/** The name under which the session keeps what its last request was made of. */
export const stateKey = 'prompt';

/** Watches the stable beginning of a session's requests. */
export interface DriftWatch {
  /** Learns what the session has kept, if it has. */
  recall(found: KeptPrompt | undefined): void;
  /** A request leaves: says what has changed since the one before. */
  asked(prefix: PrefixPrint): readonly NewEvent[];
  /** Its answer is here: says whether the cache was lost, and what the session is to keep. */
  answered(usage: Usage): readonly NewEvent[];
}

/**
 * Watches the stable beginning of a session's requests, in this turn and from the one before.
 *
 * @param remember called with what is to be known of an answered request
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
