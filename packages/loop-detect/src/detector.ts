import type { ToolEffect } from '@h/turn';
import { hasAnswered, isKnownPage, nextAnswer, type Answer } from './rules/answers.js';
import { DescribedCall, type LoopCall, type LoopOutcome } from './reading/call.js';
import { Cycles } from './rules/cycles.js';
import { Failures } from './rules/failures.js';
import { checkLoopOptions, limitsFrom, type LimitsOf, type LoopOptions } from './options.js';
import {
  HeldFingerprints,
  isSuccess,
  minPageWords,
  neutralStatuses,
  PendingFingerprint,
  type Fingerprint,
} from './reading/outcome.js';
import { compareOutcome, type KnownCall, type RunCounts } from './rules/progress.js';
import { Recent } from './rules/recent.js';
import { Remakes } from './rules/remakes.js';
import { Repeats, type Sighting } from './rules/repeats.js';
import { Rework } from './rules/rework.js';
import { fine, messages, unknownTool, worstOf, type LoopVerdict } from './verdict.js';

/** Detects calls that make no progress. */
export interface LoopDetector {
  /**
   * Judges a call before it runs: `block` means that the call should not run, `break` that the run should end. Does not
   * affect later verdicts. Calls that are judged without a `record` in between form one batch.
   */
  judge(call: LoopCall): LoopVerdict;
  /**
   * Records the outcome of a call and judges it: `warn` is a message to add to the result, `break` means that the run
   * should end. Record a call that did not run because of `judge` with the status `denied`.
   */
  record(call: LoopCall, outcome: LoopOutcome): LoopVerdict;
  /** Clears the state, for instance when the user sends a message. */
  reset(): void;
}

// Memory
const maxTools = 64;
const maxStrikes = 32;

/**
 * Creates a detector for one run of calls. It requires neither RxJS nor a harness.
 *
 * A high count only causes a warning. A call is blocked if its outcomes show no progress: they are equal apart from
 * volatile parts, with no change and no new outcome in between. Time and memory per call do not grow with the run.
 *
 * @throws InvalidOptionError (`invalid-option`) names the option, its value and what it accepts
 *
 * @example
 * ```ts
 * const loops = createLoopDetector();
 * const call = { id: '1', name: 'bash', input: { command: 'npm test' } };
 * if (loops.judge(call).level === 'ok') loops.record(call, { status: 'failed', output: '1 failing' });
 * ```
 */
export const createLoopDetector = (options: LoopOptions = {}): LoopDetector => {
  checkLoopOptions(options);
  const detector = new Detector(options, limitsFrom(options));
  let isJudging = false;
  let judged = new Map<string, DescribedCall>();
  const held = new HeldFingerprints();

  const describe = (call: LoopCall): DescribedCall => {
    if (!isJudging) {
      detector.beginBatch();
      judged = new Map();
    }
    isJudging = true;
    const described = detector.describe(call);
    judged.set(call.id, described);
    return described;
  };

  return {
    judge: (call) => detector.judge(describe(call)),
    record: (call, outcome) => {
      let described = judged.get(call.id);
      if (described?.call !== call) {
        if (described === undefined) isJudging = false;
        described = describe(call);
      }
      isJudging = false;
      return detector.record(described, outcome.status, held.add(detector.pendingFingerprint(call, outcome)));
    },
    reset: () => {
      detector.reset();
      held.clear();
      judged = new Map();
      isJudging = false;
    },
  };
};

/** The counters of a {@link Detector}. */
interface DetectorState {
  unknownStreak: number;
  unknownBatch: number;
  idle: number;
  idleBatch: number;
  newsBatch: number;
  lastKey: string;
  lastKeyRun: number;
  /** Whether the previous call let time pass, or reported something that is running. */
  hasPaused: boolean;
  latestStrike: number | undefined;
  newsAtForgiveness: number;
}

const initialState: DetectorState = {
  unknownStreak: 0,
  unknownBatch: -1,
  idle: 0,
  idleBatch: -1,
  newsBatch: -1,
  lastKey: '',
  lastKeyRun: 0,
  hasPaused: false,
  latestStrike: undefined,
  newsAtForgiveness: -1,
};

/** Runs all detectors over one run of calls. `judge` only reads the state; `record` changes it. */
export class Detector {
  readonly #options: LoopOptions;
  readonly #limits: LimitsOf;
  readonly #counts: RunCounts;
  readonly #state: DetectorState;

  readonly #repeats: Repeats;
  readonly #failures: Failures;
  readonly #cycles: Cycles;
  readonly #remakes: Remakes;
  readonly #rework: Rework;
  /** The latest outcome of each tool, and the call that it answered. */
  readonly #answers: Recent<string, Answer>;
  readonly #unknownTools: Recent<string, number>;
  /** Loops for which calls were blocked. */
  readonly #strikes: Recent<string, true>;

  constructor(options: LoopOptions, limits: LimitsOf, base?: Detector) {
    this.#options = options;
    this.#limits = limits;
    this.#counts = base === undefined ? { news: 0, writes: 0, acts: 0, inputs: 0, batch: 0 } : { ...base.#counts };
    this.#state = base === undefined ? { ...initialState } : { ...base.#state };
    this.#failures = base === undefined ? new Failures(this.#counts, this.#limits) : base.#failures.fork(this.#counts);
    this.#cycles = base === undefined ? new Cycles(this.#limits) : base.#cycles.fork();
    this.#remakes = base === undefined ? new Remakes(this.#limits) : base.#remakes.fork();
    this.#rework = base === undefined ? new Rework(this.#counts, this.#limits) : base.#rework.fork(this.#counts);
    this.#repeats = base === undefined ? new Repeats(this.#counts, this.#limits) : base.#repeats.fork(this.#counts);
    this.#answers = new Recent(maxTools, base && base.#answers);
    this.#unknownTools = new Recent(maxTools, base && base.#unknownTools);
    this.#strikes = new Recent(maxStrikes, base && base.#strikes);
  }

  /** Returns a detector that continues from this state without changing it. Copies counts, not calls. */
  fork(): Detector {
    return new Detector(this.#options, this.#limits, this);
  }

  /** Starts the batch of the next model answer. */
  beginBatch(): void {
    this.#counts.batch += 1;
  }

  describe(call: LoopCall): DescribedCall {
    return new DescribedCall(call, this.#toolOptions(call.name));
  }

  /** Returns a fingerprint that holds the output until it is compared. */
  pendingFingerprint(call: LoopCall, outcome: LoopOutcome): PendingFingerprint {
    return new PendingFingerprint(call, outcome, this.#outcomeOf(call.name));
  }

  judge(call: DescribedCall): LoopVerdict {
    const found = this.#findBlock(call);
    return found.level === 'block' && this.#isStruckOut(found.key) ? { ...found, level: 'break' } : found;
  }

  /**
   * Whether {@link record} would certainly return `ok`: the call is new and has succeeded with another answer than the
   * call before it of its tool.
   */
  isNew(call: DescribedCall, status: LoopOutcome['status'], print: Fingerprint): boolean {
    if (!isSuccess(status, print) || this.#repeats.get(call.key) !== undefined) return false;
    if (this.#rework.isRedone(call)) return false;
    const answer = this.#answers.get(call.tool);
    const isAnswered =
      hasAnswered(answer, call, print) ||
      isKnownPage(answer, call, print, { isNewInput: true, writes: this.#counts.writes });
    return !isAnswered;
  }

  /** Records the outcome of a call. @param effect the declared effect of the tool, if known */
  record(
    call: DescribedCall,
    status: LoopOutcome['status'],
    print: Fingerprint,
    effect: ToolEffect | undefined = call.call.effect,
  ): LoopVerdict {
    if (neutralStatuses.has(status)) return fine(call.key);
    if (status === 'denied') {
      const found = this.#findBlock(call);
      if (found.level === 'block') this.#strike(found.key);
    }
    const known = this.#repeats.get(call.key);
    const sighting = this.#see(call, status, print, known, effect);
    if (sighting.isNews) {
      this.#counts.news += 1;
      if (call.writes(effect)) this.#counts.writes += 1;
      if (sighting.isAct) this.#counts.acts += 1;
      if (call.isInput && print.words.length < minPageWords) this.#counts.inputs += 1;
    }
    this.#state.lastKeyRun = call.key === this.#state.lastKey ? this.#state.lastKeyRun + 1 : 1;
    this.#state.lastKey = call.key;
    const isIdle = this.#isIdle(sighting);
    const isRunning = sighting.print.isRunning === true;
    const found = [
      this.#recordIdle(sighting, isIdle),
      this.#recordUnknownTool(sighting),
      known?.batch === this.#counts.batch ? undefined : this.#cycles.record(call, sighting.isSame, isRunning),
      sighting.isDenied ? undefined : this.#remakes.record(call, sighting.print, sighting.isOk, known !== undefined),
      sighting.isDenied ? undefined : this.#rework.record(call, sighting.print),
      this.#repeats.record(sighting, this.#state.hasPaused),
      sighting.isDenied ? undefined : this.#failures.record(call, print, sighting.isNews),
    ];
    this.#state.hasPaused = call.isPause || isRunning;
    return call.isExempt ? fine(call.key) : worstOf(found, fine(call.key));
  }

  /**
   * Allows repetitions once after the model has lost a part of its context. It has no effect again until a new outcome
   * is recorded, so that a loop across several contexts is still detected.
   */
  forgive(): void {
    if (this.#state.newsAtForgiveness === this.#counts.news) return;
    this.#counts.news += 1;
    this.#state.newsAtForgiveness = this.#counts.news;
    this.#state.idle = 0;
  }

  reset(): void {
    for (const memory of [this.#repeats, this.#answers, this.#unknownTools, this.#strikes]) memory.clear();
    this.#failures.reset();
    this.#cycles.reset();
    this.#remakes.reset();
    this.#rework.reset();
    const { unknownBatch, idleBatch, newsBatch, newsAtForgiveness } = this.#state;
    Object.assign(this.#state, initialState, { unknownBatch, idleBatch, newsBatch, newsAtForgiveness });
  }

  #outcomeOf(name: string): ((output: unknown) => unknown) | undefined {
    const own = this.#toolOptions(name);
    return own === false ? undefined : own?.outcomeOf;
  }

  #toolOptions(name: string): NonNullable<LoopOptions['tools']>[string] | undefined {
    const { tools } = this.#options;
    return tools !== undefined && Object.hasOwn(tools, name) ? tools[name] : undefined;
  }

  // Judging a call before it runs

  #findBlock(call: DescribedCall): LoopVerdict {
    const { key, tool } = call;
    if (call.isExempt) return fine(key);
    return worstOf(
      [
        this.#blockUnknownTool(tool),
        this.#blockDoomLoop(key, tool),
        this.#cycles.judge(key, tool),
        this.#remakes.judge(call),
        this.#rework.judge(call),
        this.#repeats.judge(call),
        this.#failures.judge(call),
      ],
      fine(key),
    );
  }

  #blockUnknownTool(tool: string): LoopVerdict | undefined {
    const count = this.#unknownTools.get(tool);
    if (count === undefined) return undefined;
    const calls = Math.max(count, this.#state.unknownStreak);
    return calls + 1 < this.#limits('unknown-tool', tool).block ? undefined : unknownTool('block', tool, calls);
  }

  #blockDoomLoop(key: string, tool: string): LoopVerdict | undefined {
    const threshold = this.#options.doomLoopThreshold ?? Infinity;
    if (key !== this.#state.lastKey || this.#state.lastKeyRun + 1 < threshold) return undefined;
    const message = messages['doom-loop'](tool, this.#state.lastKeyRun);
    return { level: 'block', detector: 'doom-loop', message, key: `doom-loop:${key}` };
  }

  /**
   * Whether a blocked call ends the run: the loop was blocked before, or another one was and too few outcomes were new.
   */
  #isStruckOut(key: string): boolean {
    if (this.#strikes.get(key) === true) return true;
    return (
      this.#state.latestStrike !== undefined &&
      this.#counts.news - this.#state.latestStrike < (this.#options.forgiveAfter ?? 5)
    );
  }

  #strike(key: string): void {
    this.#strikes.set(key, true);
    this.#state.latestStrike = this.#counts.news;
  }

  // Recording how a call ended

  #see(
    call: DescribedCall,
    status: LoopOutcome['status'],
    given: Fingerprint,
    known: KnownCall | undefined,
    effect: ToolEffect | undefined,
  ): Sighting {
    const isDenied = status === 'denied';
    // A denied call has no outcome.
    const print = isDenied ? (known?.print ?? refused) : given;
    // A search without a match ends with an exit code.
    const isOk = isSuccess(status, print) || (print.isEmpty === true && call.isLookup);
    const change = compareOutcome(call, print, isOk, known, this.#counts.writes);
    const before = this.#answers.get(call.tool);
    const { writes } = this.#counts;
    const isAnswered =
      isOk &&
      (hasAnswered(before, call, print) ||
        isKnownPage(before, call, print, { isNewInput: known === undefined, writes }));
    this.#answers.set(call.tool, nextAnswer(before, call, print, { isAnswered, isSame: change.isSame, writes }));
    const isNews = isOk && !change.isSame && !isAnswered && !call.isNote;
    return {
      call,
      print,
      isDenied,
      isUnknownTool: status === 'unknown-tool',
      isOk: isDenied ? (known?.isOk ?? false) : isOk,
      isNews,
      isAct: isNews && call.acts(effect),
      isAnswered,
      ...change,
    };
  }

  #recordUnknownTool({ call: { tool }, isUnknownTool, isDenied }: Sighting): LoopVerdict | undefined {
    const known = this.#unknownTools.get(tool);
    if (isDenied && known === undefined) return undefined;
    if (!isUnknownTool && !isDenied) {
      this.#state.unknownStreak = 0;
      this.#unknownTools.delete(tool);
      return undefined;
    }
    if (this.#counts.batch !== this.#state.unknownBatch) this.#state.unknownStreak += 1;
    this.#state.unknownBatch = this.#counts.batch;
    const count = (known ?? 0) + 1;
    this.#unknownTools.set(tool, count);
    const limits = this.#limits('unknown-tool', tool);
    const calls = Math.max(count, this.#state.unknownStreak);
    if (this.#state.unknownStreak >= limits.break) return unknownTool('break', tool, calls);
    return calls >= limits.warn ? unknownTool('warn', tool, calls) : undefined;
  }

  /** Whether a call returned nothing new. Polls are excluded, because the poll detector counts them. */
  #isIdle({ call, print, isDenied, isUnknownTool, isSame, isAnswered }: Sighting): boolean {
    if (isDenied || isUnknownTool || isAnswered || call.isNote || (isSame && !call.isPoll)) return true;
    return this.#failures.isKnown(call, print);
  }

  /** Counts batches in a row in which every call was idle. */
  #recordIdle({ call: { tool }, isNews }: Sighting, isIdle: boolean): LoopVerdict | undefined {
    if (isNews) {
      this.#state.idle = 0;
      this.#state.newsBatch = this.#counts.batch;
    }
    const { batch } = this.#counts;
    if (!isIdle || batch === this.#state.newsBatch || batch === this.#state.idleBatch) return undefined;
    this.#state.idleBatch = batch;
    this.#state.idle += 1;
    const limits = this.#limits('breaker', tool);
    if (this.#state.idle < limits.warn && this.#state.idle < limits.break) return undefined;
    const level = this.#state.idle >= limits.break ? 'break' : 'warn';
    return { level, detector: 'breaker', message: messages.breaker(this.#state.idle), key: 'breaker' };
  }
}

/** The outcome of a call that never ran. */
const refused: Fingerprint = { outcome: 0, shape: 0, words: [] };
