import type { CostOf } from '@h/prices';
import type { Usage } from '@h/turn';
import type { AuditRecord } from '../read/record.js';
import { FindingList } from './finding.js';

/** A request whose prefix was in the cache before and was not read from it. */
export interface CacheBreak {
  readonly cause: 'compaction' | 'model' | 'pause' | 'unknown';
  /** Tokens that were sent again at the full price. */
  readonly lostTokens: number;
  readonly pauseMs?: number | undefined;
}

/** The time that providers keep a prefix by default. */
const timeToLiveMs = 5 * 60_000;
/** A prefix below the smallest unit of the providers' caches is not counted. */
const minLostTokens = 1024;

interface Previous {
  readonly usage: Usage;
  readonly model: string | undefined;
  readonly at: number | undefined;
}

/** Finds requests that did not read the prefix of the request before from the provider's cache. */
export class CacheAnalysis {
  readonly breaks = new FindingList<CacheBreak>();
  readonly lostByCause = new Map<CacheBreak['cause'], number>();
  /** Extra cost of all breaks but those of compactions, as far as prices are known. */
  lostCost = 0;
  readonly #costOf: CostOf;
  #previous: Previous | undefined;
  #wasCompacted = false;

  constructor(costOf: CostOf) {
    this.#costOf = costOf;
  }

  take(record: AuditRecord): void {
    if (record.type === 'compaction') this.#wasCompacted = true;
    if (record.type !== 'request' || !record.usage) return;
    const { usage, model, at } = record;
    const previous = this.#previous;
    const cause = previous && this.#causeOf(previous, model, at);
    this.#previous = { usage, model, at };
    this.#wasCompacted = false;
    // Transcripts without cached tokens do not tell.
    if (
      !previous ||
      cause === undefined ||
      previous.usage.cacheRead + previous.usage.cacheWrite + usage.cacheRead === 0
    ) {
      return;
    }
    const lostTokens = Math.min(previous.usage.input, usage.input) - usage.cacheRead;
    if (lostTokens < minLostTokens || usage.cacheRead >= previous.usage.cacheRead + previous.usage.cacheWrite) return;
    const pauseMs = at === undefined || previous.at === undefined ? undefined : at - previous.at;
    this.breaks.add({ cause, lostTokens, pauseMs });
    this.lostByCause.set(cause, (this.lostByCause.get(cause) ?? 0) + lostTokens);
    if (cause !== 'compaction') this.lostCost += this.#costOfLoss(lostTokens, model);
  }

  #causeOf(previous: Previous, model: string | undefined, at: number | undefined): CacheBreak['cause'] {
    if (this.#wasCompacted) return 'compaction';
    if (model !== previous.model) return 'model';
    if (at !== undefined && previous.at !== undefined && at - previous.at > timeToLiveMs) return 'pause';
    return 'unknown';
  }

  #costOfLoss(tokens: number, model: string | undefined): number {
    const full = { input: tokens, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
    const cost = this.#costOf(full, model);
    const cached = this.#costOf({ ...full, cacheRead: tokens }, model);
    return cost === undefined || cached === undefined ? 0 : cost - cached;
  }
}
