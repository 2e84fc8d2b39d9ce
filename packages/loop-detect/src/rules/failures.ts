import type { DescribedCall } from '../reading/call.js';
import type { LimitsOf } from '../options.js';
import { compareFailures, type Fingerprint } from '../reading/outcome.js';
import type { RunCounts } from './progress.js';
import { Recent } from './recent.js';
import { churned, type LoopVerdict } from '../verdict.js';

const maxTools = 64;
/** Maximum number of distinct failures stored per tool. */
const maxFailures = 4;
/** Added to the warning threshold for differently worded failures, which are weaker evidence. */
const relatedWarn = 2;
const relatedBlock = 4;
/** Added to the block threshold of shells, because a failed command is weak evidence about the next one. */
const shellBlock = 4;

/** The failures of one tool. Its counts restart when the tool succeeds or something changes. */
interface FailingTool {
  readonly prints: readonly Fingerprint[];
  readonly key: string;
  /** Number of equal and related failures; both also counted without new outcomes in between. */
  readonly same: number;
  readonly related: number;
  readonly sameStreak: number;
  readonly relatedStreak: number;
  readonly news: number;
  readonly writes: number;
  readonly batch: number;
}

/** Detects tools that fail the same way for different inputs. */
export class Failures {
  readonly #failing: Recent<string, FailingTool>;
  readonly #counts: RunCounts;
  readonly #limits: LimitsOf;

  constructor(counts: RunCounts, limits: LimitsOf, failing = new Recent<string, FailingTool>(maxTools)) {
    this.#counts = counts;
    this.#limits = limits;
    this.#failing = failing;
  }

  fork(counts: RunCounts): Failures {
    return new Failures(counts, this.#limits, this.#failing.fork());
  }

  judge(call: DescribedCall): LoopVerdict | undefined {
    const failing = this.#failing.get(call.tool);
    if (failing === undefined || failing.news !== this.#counts.news) return undefined;
    const { block } = this.#limits('churn', call.tool);
    const isBlocked = call.isShell
      ? failing.sameStreak + 1 >= block + shellBlock
      : failing.sameStreak + 1 >= block || failing.relatedStreak + 1 >= block + relatedBlock;
    return isBlocked ? churned('block', call.tool, failing.relatedStreak) : undefined;
  }

  record(call: DescribedCall, print: Fingerprint, isNews: boolean): LoopVerdict | undefined {
    const { key, tool } = call;
    if (isNews) this.#failing.delete(tool);
    if (print.failure === undefined) return undefined;
    const { news, writes, batch } = this.#counts;
    const before = this.#failing.get(tool);
    const isUnchanged = before?.writes === writes;
    const likeness = isUnchanged ? this.#likeness(call, print, before) : 'other';
    const isRelated = before !== undefined && likeness !== 'other';
    // The calls of one batch count as one attempt; the same input again is a repeat.
    if (isRelated && (before.batch === batch || before.key === key)) return undefined;
    const isSame = likeness === 'same';
    const isStreak = before?.news === news;
    const same = isSame ? (before?.same ?? 0) + 1 : 1;
    const related = isRelated ? before.related + 1 : 1;
    this.#failing.set(tool, {
      prints:
        isSame && before ? before.prints : [print, ...(isUnchanged ? before.prints : []).slice(0, maxFailures - 1)],
      key,
      same,
      related,
      sameStreak: isSame && isStreak ? before.sameStreak + 1 : 1,
      relatedStreak: isRelated && isStreak ? before.relatedStreak + 1 : 1,
      news,
      writes,
      batch,
    });
    const { warn } = this.#limits('churn', tool);
    return same >= warn || related >= warn + relatedWarn ? churned('warn', tool, related) : undefined;
  }

  /** Returns how similar a failure is to earlier ones of the tool. */
  #likeness(call: DescribedCall, print: Fingerprint, { prints }: FailingTool): 'same' | 'related' | 'other' {
    let best: 'same' | 'related' | 'other' = 'other';
    for (const before of prints) {
      const likeness = compareFailures(before, print, call.isShell);
      if (likeness === 'same') return 'same';
      if (likeness === 'related') best = likeness;
    }
    return best;
  }

  /** Whether the tool has failed this way before. */
  isKnown(call: DescribedCall, print: Fingerprint): boolean {
    const failing = print.failure === undefined ? undefined : this.#failing.get(call.tool);
    return failing !== undefined && this.#likeness(call, print, failing) !== 'other';
  }

  reset(): void {
    this.#failing.clear();
  }
}
