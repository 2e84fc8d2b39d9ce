import type { CostOf } from '@h/prices';
import type { Usage } from '@h/turn';
import type { AuditRecord, Settings } from '../read/record.js';
import { FindingList } from './finding.js';
import type { TextFacts } from './text-facts.js';

/** A request whose prefix was in the cache before and was not read from it. */
export interface CacheBreak {
  readonly cause: 'compaction' | 'model' | 'pause' | 'settings' | 'unknown';
  /** What differs from the request before, without secrets. Empty if the transcript does not tell. */
  readonly changes: readonly string[];
  /** Tokens that were sent again at the full price. */
  readonly lostTokens: number;
  readonly pauseMs?: number | undefined;
}

/** The time that providers keep a prefix by default. */
const timeToLiveMs = 5 * 60_000;
/** A prefix below the smallest unit of the providers' caches is not counted. */
const minLostTokens = 1024;

/** Differences of one break that are listed. */
const maxChanges = 10;
/** Longer values are shown from their first difference on. */
const maxShownChars = 48;

type Request = Extract<AuditRecord, { type: 'request' }> & { readonly usage: Usage };

/** Finds requests that did not read the prefix of the request before from the provider's cache. */
export class CacheAnalysis {
  readonly breaks = new FindingList<CacheBreak>();
  readonly lostByCause = new Map<CacheBreak['cause'], number>();
  /** Extra cost of all breaks but those of compactions, as far as prices are known. */
  lostCost = 0;
  readonly #costOf: CostOf;
  readonly #facts: TextFacts;
  #previous: Request | undefined;
  #wasCompacted = false;

  constructor(costOf: CostOf, facts: TextFacts) {
    this.#costOf = costOf;
    this.#facts = facts;
  }

  take(record: AuditRecord): void {
    if (record.type === 'compaction') this.#wasCompacted = true;
    if (record.type !== 'request' || !record.usage) return;
    const request = { ...record, usage: record.usage };
    if (this.#previous) this.#compare(this.#previous, request);
    this.#previous = request;
    this.#wasCompacted = false;
  }

  #compare(previous: Request, request: Request): void {
    const { usage, model, at } = request;
    const cached = previous.usage.cacheRead + previous.usage.cacheWrite;
    // Transcripts without cached tokens do not tell.
    if (cached + usage.cacheRead === 0) return;
    const lostTokens = Math.min(previous.usage.input, usage.input) - usage.cacheRead;
    if (lostTokens < minLostTokens || usage.cacheRead >= cached) return;
    const pauseMs = pauseBetween(previous.at, at);
    const settings = changesOf(previous.settings, request.settings).map((change) => this.#facts.redacted(change));
    const isNewModel = model !== previous.model;
    const cause = this.#wasCompacted
      ? 'compaction'
      : isNewModel
        ? 'model'
        : pauseMs !== undefined && pauseMs > timeToLiveMs
          ? 'pause'
          : settings.length > 0
            ? 'settings'
            : 'unknown';
    const changes = [
      ...(isNewModel ? [`model: ${previous.model ?? 'unknown'} → ${model ?? 'unknown'}`] : []),
      ...settings.slice(0, maxChanges),
      ...(settings.length > maxChanges ? [`${settings.length - maxChanges} more`] : []),
    ];
    this.breaks.add({ cause, changes, lostTokens, pauseMs });
    this.lostByCause.set(cause, (this.lostByCause.get(cause) ?? 0) + lostTokens);
    if (cause !== 'compaction') this.lostCost += this.#costOfLoss(lostTokens, model);
  }

  #costOfLoss(tokens: number, model: string | undefined): number {
    const full = { input: tokens, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    const cost = this.#costOf(full, model);
    const cached = this.#costOf({ ...full, cacheRead: tokens }, model);
    return cost === undefined || cached === undefined ? 0 : cost - cached;
  }
}

/** Returns the time between two requests; `undefined` if it is unknown, as after a clock was set back. */
const pauseBetween = (before: number | undefined, at: number | undefined): number | undefined =>
  before === undefined || at === undefined || at < before ? undefined : at - before;

/** Describes the differences of settings: both values, or the places where long ones begin to differ. */
const changesOf = (before: Settings = {}, after: Settings = {}): readonly string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) => {
    const [old, now] = [before[name], after[name]];
    if (old === now) return [];
    if (old === undefined) return [`${name}: added`];
    if (now === undefined) return [`${name}: removed`];
    if (old.startsWith('#')) return [`${name}: changed`];
    if (Math.max(old.length, now.length) <= maxShownChars) return [`${name}: ${old} → ${now}`];
    const place = firstDifference(old, now);
    const [was, is] = [old, now].map((text) => text.slice(place, place + maxShownChars).replaceAll(/\s+/g, ' '));
    return [`${name}, from character ${place + 1}: “${was}” → “${is}”`];
  });

const firstDifference = (one: string, other: string): number => {
  let place = 0;
  while (place < one.length && one[place] === other[place]) place += 1;
  return place;
};
