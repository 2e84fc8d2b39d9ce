import type { DescribedCall } from '../reading/call.js';
import type { LimitsOf } from '../options.js';
import { isSameOutcome, type Fingerprint } from '../reading/outcome.js';
import { addLines, addShape, hasShape, type Change, type KnownCall, type RunCounts } from './progress.js';
import { Recent } from './recent.js';
import { repeated, type LoopVerdict } from '../verdict.js';

const maxCalls = 512;
/** Factor for calls whose results are new each time, or move in one direction. */
const nextParts = 3;
/** Number of equal outcomes since the last change that cause a warning, regardless of the calls in between. */
const maxSameOutcomes = 6;

/** A finished call with its comparison to earlier calls. */
export interface Sighting extends Change {
  readonly call: DescribedCall;
  readonly print: Fingerprint;
  readonly isDenied: boolean;
  readonly isUnknownTool: boolean;
  readonly isOk: boolean;
  /** Whether it succeeded with an outcome that is new for this call. */
  readonly isNews: boolean;
  /** Whether it is new and may have changed what other calls return. */
  readonly isAct: boolean;
  /** Whether it is a lookup with the same answer as the previous lookup. */
  readonly isAnswered: boolean;
}

/** Detects calls with the same input, by the outcomes that they had. */
export class Repeats {
  readonly #counts: RunCounts;
  readonly #limits: LimitsOf;
  readonly #calls: Recent<string, KnownCall>;

  constructor(counts: RunCounts, limits: LimitsOf, calls = new Recent<string, KnownCall>(maxCalls)) {
    this.#counts = counts;
    this.#limits = limits;
    this.#calls = calls;
  }

  fork(counts: RunCounts): Repeats {
    return new Repeats(counts, this.#limits, this.#calls.fork());
  }

  /** Returns the earlier calls with the same input. */
  get(key: string): KnownCall | undefined {
    return this.#calls.get(key);
  }

  judge(call: DescribedCall): LoopVerdict | undefined {
    const known = this.#calls.get(call.key);
    if (known === undefined || !this.#isStreak(call, known) || known.streak < 1) return undefined;
    const detector = call.isPoll || known.isWatched ? 'poll' : 'no-progress';
    if (known.streak + 1 < this.#limits(detector, call.tool).block) return undefined;
    return repeated('block', detector, call, known.streak);
  }

  /** @param hasPaused whether the previous call let time pass, or reported something that is running */
  record(sighting: Sighting, hasPaused: boolean): LoopVerdict | undefined {
    const {
      call,
      print,
      isSame,
      isOk,
      isMeasured = false,
      isReading = false,
      drift,
      trend,
      figures,
      courses,
    } = sighting;
    const { key, tool } = call;
    const known = this.#calls.get(key);
    const isUnchanged = known?.writes === this.#counts.writes;
    // An act does not explain that it is repeated itself.
    const isCounted = isUnchanged && known.acts + (sighting.isAct ? 1 : 0) >= this.#counts.acts;
    const count = isCounted ? known.count + 1 : 1;
    const sames = isCounted ? known.sames + (isSame ? 1 : 0) : 1;
    // Within one batch, the model has not received the first outcome yet.
    const isInBatch = known?.batch === this.#counts.batch;
    const isStreak = isSame && known !== undefined && this.#isStreak(call, known, print);
    const streak = isStreak ? known.streak + (isInBatch ? 0 : 1) : 1;
    const isGauge = isReading || (isUnchanged && known.isGauge === true);
    const isWatched =
      isMeasured ||
      isGauge ||
      print.isRunning === true ||
      hasPaused ||
      (isStreak && known.isWatched) ||
      // An outcome that has come back varies by itself, as does a command that succeeds after it failed.
      (isUnchanged && known.print.shape !== print.shape && (isSame || (call.isShell && known.isOk !== isOk)));
    this.#calls.set(key, {
      print,
      isOk,
      shapes: isUnchanged ? addShape(known, print) : undefined,
      lines: isUnchanged ? addLines(known, print) : undefined,
      trend,
      figures,
      courses,
      isGauge,
      drift,
      streak,
      isWatched,
      count,
      sames,
      news: this.#counts.news,
      writes: this.#counts.writes,
      acts: this.#counts.acts,
      inputs: this.#counts.inputs,
      batch: this.#counts.batch,
    });
    const detector = call.isPoll || isWatched ? 'poll' : 'no-progress';
    if (streak >= this.#limits(detector, tool).warn && !isInBatch) return repeated('warn', detector, call, streak);
    if (count < 2) return undefined;
    // What was running may have ended.
    const hasEnded = known?.isWatched === true && !isSame;
    const isAdvancing = print.isRatio === true && (trend === 1 || trend === -1);
    if (call.isPoll || print.isRunning === true || hasEnded || isGauge || isAdvancing) return undefined;
    const { warn: usual } = this.#limits('repeat', tool);
    // What varies by itself is observed on purpose, unless it only fails.
    const isObserved = isWatched && (isOk || known?.isOk === true);
    const { warn: observed } = this.#limits('poll', tool);
    const warn = isObserved && observed < Infinity ? Math.max(usual, observed) : usual;
    // Many equal outcomes with other calls in between, in contrast to a continuous streak.
    const isStale = sames >= maxSameOutcomes && sames > streak && warn < Infinity && !isInBatch && !isWatched;
    const isNewText = !isSame && known !== undefined && !hasShape(known, print);
    // A debugger, a copy or a long task may be at its next part each time; a command may do that part.
    const isNext = isNewText || (!isSame && (trend === 1 || trend === -1));
    const isMany = count >= (isNext ? usual * nextParts : warn) && !(isNewText && call.isShell);
    const isRepeated = isMany || isStale;
    return isRepeated ? repeated('warn', 'repeat', call, count) : undefined;
  }

  clear(): void {
    this.#calls.clear();
  }

  /** Whether nothing was new since an outcome. Input events after which a screen is the same had no effect. */
  #isStreak({ isScreen }: DescribedCall, { print: before, news, inputs }: KnownCall, print = before): boolean {
    const newNews = this.#counts.news - news;
    return newNews === 0 || (isScreen && newNews === this.#counts.inputs - inputs && isSameOutcome(before, print));
  }
}
