import {
  annotate,
  deny,
  notice,
  stop,
  toolCallsOf,
  type AssistantPart,
  type Decision,
  type ToolEffect,
  type ToolResultOutput,
  type ToolStatus,
  type TurnEventOf,
} from '@h/turn';
import type { DescribedCall } from './reading/call.js';
import { RepeatedSteps } from './rules/cycles.js';
import { Detector } from './detector.js';
import type { LimitsOf, LoopDetectOptions } from './options.js';
import { finished, HeldFingerprints, type Fingerprint } from './reading/outcome.js';
import { Recent } from './rules/recent.js';
import { advice, fine, operatorName, worstOf, type LoopVerdict } from './verdict.js';

/** Maximum number of warnings whose last occurrence is stored for `warnEvery`. */
const maxWarnings = 64;

/** A call of the current step with the verdict from before it ran. */
interface PlannedCall {
  readonly described: DescribedCall;
  readonly verdict: LoopVerdict;
}

/** A result in the form in which it is counted. */
interface CountedResult {
  readonly described: DescribedCall;
  readonly status: ToolStatus;
  /** The output that it has here. Its fingerprint may be of an earlier one. */
  readonly output: ToolResultOutput;
  readonly print: Fingerprint;
  readonly effect: ToolEffect | undefined;
}

/** The verdict about a result, and whether the model should read it with the result. */
interface ResultVerdict {
  readonly verdict: LoopVerdict;
  readonly isDue: boolean;
}

/** The results of one turn, and which warnings were given with them. */
class ResultBook {
  readonly detector: Detector;
  readonly #warnEvery: number;
  /** Number of the result to which each warning was last attached. */
  readonly #warned: Recent<string, number>;
  #results: number;

  constructor(options: LoopDetectOptions, limits: LimitsOf, base?: ResultBook) {
    this.detector = base?.detector.fork() ?? new Detector(options, limits);
    this.#warnEvery = options.warnEvery ?? 5;
    this.#warned = new Recent(maxWarnings, base && base.#warned);
    this.#results = base === undefined ? 0 : base.#results;
  }

  /** Counts a result that is no evidence about its call. */
  skip(): void {
    this.#results += 1;
  }

  /** Counts a result. */
  record({ described, status, print, effect }: CountedResult, step: LoopVerdict): ResultVerdict {
    this.#results += 1;
    const found = this.detector.record(described, status, print, effect);
    const verdict = status === 'denied' ? fine('') : worstOf([found, step.level === 'warn' ? step : undefined], found);
    return { verdict, isDue: verdict.level !== 'ok' && this.#isDue(verdict) };
  }

  reset(): void {
    this.detector.reset();
    this.#warned.clear();
  }

  /** Whether the warning was not attached to one of the last `warnEvery` results. */
  #isDue({ key, level }: LoopVerdict): boolean {
    const before = this.#warned.get(key);
    if (level === 'warn' && before !== undefined && this.#results - before < this.#warnEvery) return false;
    this.#warned.set(key, this.#results);
    return true;
  }
}

/** Watches the tool calls of one turn and tracks its stage: warned, denied, ending. */
export class CallWatch {
  readonly #options: LoopDetectOptions;
  readonly #limits: LimitsOf;
  readonly #book: ResultBook;
  /** Results that have not left the pipeline yet, by call id. */
  readonly #pending = new Map<string, CountedResult>();
  /** By call id, the fingerprints of the results of the step whose outputs later operators changed. */
  #changed: Record<string, Fingerprint> | undefined;
  /** Results of the journal that are counted once their fingerprints are known. */
  #replayed: TurnEventOf<'tool.result'>[] = [];
  #isLive = false;
  readonly #held = new HeldFingerprints();
  /** A copy of the book with these results, created when one of them may be part of a loop. */
  #draft: ResultBook | undefined;
  readonly #steps: RepeatedSteps;
  #planned: ReadonlyMap<string, PlannedCall> | undefined;
  /** The verdict about the step as a whole. */
  #step: LoopVerdict = fine('');
  #isStepReported = false;
  /** The reason why the turn is about to end. */
  #ending: LoopVerdict | undefined;
  #isSummarized = false;

  constructor(options: LoopDetectOptions, limits: LimitsOf) {
    this.#options = options;
    this.#limits = limits;
    this.#book = new ResultBook(options, limits);
    this.#steps = new RepeatedSteps(options.maxRepeatedSteps ?? Infinity);
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  reset(): void {
    this.settle();
    this.#book.reset();
    this.#held.clear();
    this.#dropDraft();
    this.#steps.reset();
    this.#ending = undefined;
    this.#isSummarized = false;
  }

  /** Allows repetitions after the history was replaced, unless a loop caused the replacement. */
  forgive(): void {
    this.settle();
    if (!this.#isStepReported && this.#ending === undefined) this.#book.detector.forgive();
  }

  /** Judges all calls of an answer. */
  plan(content: readonly AssistantPart[]): void {
    this.settle();
    this.#changed = undefined;
    const { detector } = this.#book;
    this.#isSummarized = this.#ending !== undefined;
    this.#dropDraft();
    detector.beginBatch();
    const planned = new Map<string, PlannedCall>();
    const keys: string[] = [];
    let worst = fine('');
    for (const { toolCallId: id, toolName: name, input } of toolCallsOf({ role: 'assistant', content })) {
      const described = detector.describe({ id, name, input });
      const verdict = detector.judge(described);
      planned.set(id, { described, verdict });
      keys.push(described.key);
      worst = worstOf([verdict], worst);
    }
    this.#planned = planned;
    this.#step = worstOf([this.#steps.record(keys)], worst);
    this.#isStepReported = false;
  }

  /** Records that the verdict about this step was reported. */
  begin({ denied }: TurnEventOf<'tool.call'>): void {
    if (denied?.by === operatorName) this.#isStepReported = true;
  }

  /** Passes a call, or denies it together with all calls of its step. */
  decide(event: TurnEventOf<'tool.call'>): Decision {
    if (this.#ending) return stop('loop-detected', this.#ending.message);
    if (this.#planned?.has(event.call.id) !== true) return this.#decideAlone(event);
    if (!isRefused(this.#step)) return undefined;
    const refused = deny(event, refusal(this.#step, this.#isCause(event.call.id), event.call.name), operatorName);
    if (this.#isStepReported) return refused;
    this.#isStepReported = true;
    return [refused, notice('loop.warning', { ...this.#step, tool: event.call.name })];
  }

  /**
   * Decides about a call that the answer did not contain: some hosts report the calls of an answer one by one.
   */
  #decideAlone(event: TurnEventOf<'tool.call'>): Decision {
    const verdict = this.#judge(event.call);
    if (!isRefused(verdict)) return undefined;
    const refused = deny(event, refusal(verdict, true, event.call.name), operatorName);
    return [refused, notice('loop.warning', { ...verdict, tool: event.call.name })];
  }

  /** Adds the warning for the model to a result, with the fingerprint of the original output as an annotation. */
  mark(event: TurnEventOf<'tool.result'>): Decision {
    if (event.status === 'denied') return undefined;
    const counted = this.#count(event, undefined);
    const { isDue, verdict } = this.#expect(event.call.id, counted);
    if (!isDue) return undefined;
    const marked = annotate(event, operatorName, finished(counted.print));
    return [
      { ...marked, output: withNote(event.output, verdict.message) },
      notice('loop.warning', { ...verdict, tool: event.call.name }),
    ];
  }

  /**
   * Adds the fingerprints of original outputs to the results that enter the history, if other operators changed them. The
   * journal contains all other outputs as they were.
   */
  append(event: TurnEventOf<'history.append'>): Decision {
    return event.origin === 'results' && this.#changed !== undefined
      ? annotate(event, operatorName, this.#changed)
      : undefined;
  }

  /** The journal was replayed. */
  start(): void {
    this.settle();
    this.#isLive = true;
  }

  /** Counts the replayed results with their fingerprints. Messages that operators add while tools run have none. */
  appended({ origin, annotations }: TurnEventOf<'history.append'>): void {
    if (origin !== 'results') return;
    this.#changed = undefined;
    this.settle(annotations?.[operatorName]);
  }

  /** Counts the replayed results. @param prints the fingerprints of outputs that other operators changed */
  settle(prints?: unknown): void {
    const replayed = this.#replayed;
    if (replayed.length === 0) return;
    this.#replayed = [];
    const known = (prints ?? {}) as Readonly<Record<string, unknown>>;
    for (const event of replayed) {
      const print = known[event.call.id];
      this.#record(event, isFingerprint(print) ? print : undefined);
    }
  }

  /** Records a result by the fingerprint from {@link mark}, because other operators may have changed the output. */
  record(event: TurnEventOf<'tool.result'>): void {
    if (!this.#isLive) {
      this.#replayed.push(event);
      return;
    }
    const { id } = event.call;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#draft = undefined;
    if (pending !== undefined && this.#isChanged(pending, event)) (this.#changed ??= {})[id] = finished(pending.print);
    this.#record(event, pending?.print);
  }

  /** Whether the journal lacks what the fingerprint was made of. Hosts without answers of a model have no journal. */
  #isChanged({ output, status }: CountedResult, event: TurnEventOf<'tool.result'>): boolean {
    if (this.#planned?.has(event.call.id) !== true || attachedTo(event) !== undefined) return false;
    return output !== event.output || status !== event.status;
  }

  #record(event: TurnEventOf<'tool.result'>, print: Fingerprint | undefined): void {
    const { status, call } = event;
    const cause = this.#planned?.has(call.id) === true ? this.#step : this.#judge(call);
    if (status === 'denied' && cause.level === 'break') this.#ending = cause;
    // A call that was denied only because of another call of its step is no evidence.
    if (status === 'denied' && event.by === operatorName && !this.#isCause(call.id)) {
      this.#book.skip();
      return;
    }
    const { verdict } = this.#book.record(this.#count(event, print), this.#step);
    if (verdict.level === 'break') this.#ending = verdict;
  }

  /** Changes the next request of a turn that is about to end into a request for a summary. */
  shape(event: TurnEventOf<'model.request'>): Decision {
    if (this.#ending === undefined) return undefined;
    if (this.#isSummarized || this.#options.summary === false) return stop('loop-detected', this.#ending.message);
    return summaryRequest(event, this.#ending.message);
  }

  /** Sets the outcome of a turn that is about to end, even if its summary fails. */
  end(event: TurnEventOf<'turn.stop'>): Decision {
    if (this.#ending === undefined || (event.outcome !== 'completed' && event.outcome !== 'error')) return undefined;
    return { ...event, outcome: 'loop-detected', reason: this.#ending.message };
  }

  /** Returns the verdict about a result that is not observed yet, after those that are on their way before it. */
  #expect(id: string, counted: CountedResult): ResultVerdict {
    const { described, status, print } = counted;
    const isFirst = this.#pending.size === 0;
    if (isFirst && this.#step.level === 'ok' && this.#book.detector.isNew(described, status, print)) {
      this.#pending.set(id, counted);
      return notDue;
    }
    this.#draft ??= this.#draftWithPending();
    this.#pending.set(id, counted);
    return this.#draft.record(counted, this.#step);
  }

  #draftWithPending(): ResultBook {
    const draft = new ResultBook(this.#options, this.#limits, this.#book);
    for (const counted of this.#pending.values()) draft.record(counted, this.#step);
    return draft;
  }

  #dropDraft(): void {
    this.#draft = undefined;
    this.#pending.clear();
  }

  /** @param known the fingerprint of the original output, if it was made before */
  #count(event: TurnEventOf<'tool.result'>, known: Fingerprint | undefined): CountedResult {
    const described = this.#describe(event.call);
    const print =
      known ?? attachedTo(event) ?? this.#held.add(this.#book.detector.pendingFingerprint(described.call, event));
    return { described, status: event.status, output: event.output, print, effect: event.call.effect };
  }

  #describe(call: TurnEventOf<'tool.call'>['call']): DescribedCall {
    return this.#planned?.get(call.id)?.described ?? this.#book.detector.describe(call);
  }

  /** Whether this call caused the denial of its step. */
  #isCause(id: string): boolean {
    if (this.#step.detector === 'repeated-steps') return true;
    const planned = this.#planned?.get(id);
    return planned === undefined || isRefused(planned.verdict);
  }

  #judge(call: TurnEventOf<'tool.call'>['call']): LoopVerdict {
    const { detector } = this.#book;
    return detector.judge(detector.describe(call));
  }
}

const isRefused = ({ level }: LoopVerdict): boolean => level === 'block' || level === 'break';

const notDue: ResultVerdict = { verdict: fine(''), isDue: false };

const attachedTo = ({ annotations }: TurnEventOf<'tool.result'>): Fingerprint | undefined => {
  const own = annotations?.[operatorName];
  return isFingerprint(own) ? own : undefined;
};

const isFingerprint = (value: unknown): value is Fingerprint => {
  if (typeof value !== 'object' || value === null) return false;
  const { outcome, shape, words } = value as Readonly<Record<string, unknown>>;
  return typeof outcome === 'number' && typeof shape === 'number' && Array.isArray(words);
};

const refusal = ({ level, message }: LoopVerdict, isCause: boolean, tool: string): string => {
  const next = level === 'break' ? 'The turn ends here.' : 'If the same call comes again, the turn ends.';
  if (isCause) return `Not run. ${message} ${next}`;
  return `Not run: ${tool} was requested together with a call that goes in circles. ${message} ${next}`;
};

/** Appends a note for the model to an output. An error stays an error. */
const withNote = (output: ToolResultOutput, text: string): ToolResultOutput => {
  const note = `[Loop warning] ${text}`;
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${output.value}\n\n${note}` };
    case 'json':
      return { ...output, type: 'text', value: `${JSON.stringify(output.value)}\n\n${note}` };
    case 'error-json':
      return { ...output, type: 'error-text', value: `${JSON.stringify(output.value)}\n\n${note}` };
    case 'content':
      return { ...output, value: [...output.value, { type: 'text', text: note }] };
    case 'execution-denied':
      return { ...output, reason: output.reason === undefined ? note : `${output.reason}\n\n${note}` };
  }
};

/**
 * Creates the last request of a looping turn. It keeps the tools, so that the provider's prompt cache still applies.
 */
const summaryRequest = (event: TurnEventOf<'model.request'>, reason: string): TurnEventOf<'model.request'> => ({
  ...event,
  settings: { ...event.settings, toolChoice: 'none' },
  tail: [
    ...event.tail,
    advice(
      `This turn ends because it went in circles: ${reason} Do not call tools. Say in a few sentences what was done, what was found out, what is still open, and what you would need to continue.`,
    ),
  ],
});
