import { keep, notice, type NewEvent, type Usage } from '@h/turn';
import { comparePrefixes } from './drift.js';
import { toState, type KeptPrompt, type PrefixPrint } from './kept-prompt.js';

/** Key of the session state that stores the fingerprint of the last request. */
export const stateKey = 'prompt';

/** Detects changes in the stable prefix of a session's requests, within a turn and since the previous one. */
export class DriftWatch {
  /** The prefix of the latest request, of this turn or the one before. */
  #last: PrefixPrint | undefined;
  /** Tokens that the provider had in its cache after that request. */
  #cached = 0;
  /** The prefix of the request that has no answer yet. */
  #current: PrefixPrint | undefined;
  #isBroken = false;
  /** The prefix that this turn has stored in the session state. */
  #kept: PrefixPrint | undefined;

  /** Loads the stored fingerprint, if any. */
  recall(found: KeptPrompt | undefined): void {
    if (!found) return;
    this.#last = found.prefix;
    this.#cached = found.cached;
  }

  /** Compares an outgoing request with the previous one. @returns the notices to emit */
  asked(prefix: PrefixPrint): readonly NewEvent[] {
    const last = this.#last;
    this.#current = prefix;
    this.#last = prefix;
    const changes = last === undefined || last === prefix ? [] : comparePrefixes(last, prefix);
    const [first] = changes;
    if (first === undefined) return [];
    this.#isBroken = true;
    return [notice('cache.broken', { from: first.part, changes })];
  }

  /**
   * Checks the usage of the response.
   *
   * @param remember called with the fingerprint if it is new
   * @returns the notices to emit and the state to store
   */
  answered({ cacheRead, cacheWrite }: Usage, remember: (kept: KeptPrompt) => void): readonly NewEvent[] {
    const current = this.#current;
    if (current === undefined) return [];
    const events: NewEvent[] = [];
    if (this.#isBroken) {
      const cachedBefore = this.#cached;
      const outcome = cachedBefore === 0 ? 'unknown' : cacheRead < cachedBefore ? 'lost' : 'kept';
      events.push(notice('cache.checked', { outcome, cacheRead, cachedBefore }));
    }
    this.#isBroken = false;
    this.#cached = cacheRead + cacheWrite;
    if (this.#kept === undefined || comparePrefixes(this.#kept, current).length > 0) {
      const value: KeptPrompt = { prefix: current, cached: this.#cached };
      remember(value);
      events.push(keep(stateKey, toState(value)));
    }
    this.#kept = current;
    return events;
  }
}
