import {
  annotate,
  deny,
  notice,
  stop,
  toolCallsOf,
  type AssistantPart,
  type Decision,
  type TurnEventOf,
} from '@h/turn';
import { selectOf } from './detector.js';
import './events.js';
import { fingerprintOf, type Fingerprint } from './fingerprint.js';
import { Monitor, type DescribedCall } from './monitor.js';
import { withNote } from './note.js';
import type { LoopDetectOptions } from './options.js';
import { Recent } from './recent.js';
import { RepeatedSteps } from './repeated-steps.js';
import { asksForSummary, refusal } from './ladder.js';
import { fine, worstOf, type LoopVerdict } from './verdict.js';

/** The name under which this operator denies, annotates and is known. */
export const operatorName = 'loop-detect';
const maxWarnings = 64;

/** A call of the present step and what was made of it before it ran. */
interface Planned {
  readonly described: DescribedCall;
  readonly verdict: LoopVerdict;
}

/** What one turn has come to: what was seen of it, and where on the ladder it stands. */
export class TurnWatch {
  readonly #options: LoopDetectOptions;
  readonly #monitor: Monitor;
  readonly #steps: RepeatedSteps;
  readonly #warned = new Recent<string, number>(maxWarnings);
  #planned: ReadonlyMap<string, Planned> = new Map();
  /** What was made of the step as a whole. */
  #batch: LoopVerdict = fine('');
  #isTold = false;
  #results = 0;
  #latest: { readonly verdict: LoopVerdict; readonly isDue: boolean; readonly fingerprint: Fingerprint } | undefined;
  /** Why the turn is to end. */
  #ending: LoopVerdict | undefined;
  #isSummarised = false;

  constructor(options: LoopDetectOptions) {
    this.#options = options;
    this.#monitor = new Monitor(options);
    this.#steps = new RepeatedSteps(options.maxRepeatedSteps ?? Infinity);
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  /** What a person says is a new beginning. */
  reset(): void {
    this.#monitor.reset();
    this.#steps.reset();
    this.#warned.clear();
    this.#ending = undefined;
    this.#isSummarised = false;
  }

  /** The history was replaced by less: what was read before may be read again. */
  forgive(): void {
    this.#monitor.forgive();
  }

  /** Judges the calls of an answer, all together. */
  plan(content: readonly AssistantPart[]): void {
    this.#isSummarised = this.#ending !== undefined;
    this.#monitor.beginBatch();
    const calls = toolCallsOf({ role: 'assistant', content }).map(({ toolCallId, toolName, input }): Planned => {
      const described = this.#monitor.describe({ id: toolCallId, name: toolName, input });
      return { described, verdict: this.#monitor.judge(described) };
    });
    this.#planned = new Map(calls.map((planned) => [planned.described.call.id, planned]));
    const step = this.#steps.learn(calls.map(({ described }) => described.key));
    this.#batch = worstOf([...calls.map(({ verdict }) => verdict), step], fine(''));
    this.#isTold = false;
  }

  /** Learns from a replay that observers were told of this step. */
  recall({ replayed, denied }: TurnEventOf<'tool.call'>): void {
    if (replayed === true && denied?.by === operatorName) this.#isTold = true;
  }

  /** Lets a call of the step pass, or refuses it with all others. */
  decide(event: TurnEventOf<'tool.call'>): Decision {
    if (this.#ending) return stop('loop-detected', this.#ending.message);
    if (!this.#isRefused) return undefined;
    const refused = deny(event, refusal(this.#batch, this.#isCulprit(event.call.id), event.call.name), operatorName);
    return [refused, ...this.#tell(event.call.name)];
  }

  /** Learns from a result, before anybody has changed it. */
  learn(event: TurnEventOf<'tool.result'>): void {
    this.#latest = undefined;
    this.#results += 1;
    const { status } = event;
    if (status === 'denied' && this.#batch.level === 'break') this.#ending = this.#batch;
    // A call that was only refused because of its neighbours says nothing about itself.
    if (status === 'denied' && event.by === operatorName && !this.#isCulprit(event.call.id)) return;
    const described = this.#planned.get(event.call.id)?.described ?? this.#monitor.describe(event.call);
    const { call } = described;
    const fingerprint = recordedIn(event) ?? fingerprintOf(call, event, selectOf(this.#options, call.name));
    const found = this.#monitor.learn(
      { ...described, call: { ...call, effect: event.call.effect } },
      status,
      fingerprint,
    );
    const verdict =
      status === 'denied' ? fine('') : worstOf([found, this.#batch.level === 'warn' ? this.#batch : undefined], found);
    if (verdict.level === 'break') this.#ending = verdict;
    this.#latest = { verdict, isDue: verdict.level !== 'ok' && this.#isDue(verdict), fingerprint };
  }

  /** Writes down what was learnt from a result, and tells the model what is wrong. */
  mark(event: TurnEventOf<'tool.result'>): Decision {
    if (this.#latest === undefined || event.status === 'denied') return undefined;
    const { verdict, isDue, fingerprint } = this.#latest;
    const marked = annotate(event, operatorName, {
      outcome: fingerprint.outcome,
      ...(fingerprint.failure !== undefined && { failure: fingerprint.failure }),
    });
    if (!isDue) return marked;
    return [
      { ...marked, output: withNote(event.output, verdict.message) },
      notice('loop.warning', { ...verdict, tool: event.call.name }),
    ];
  }

  /** Turns the request of a turn that is to end into one for a summary. */
  shape(event: TurnEventOf<'model.request'>): Decision {
    if (this.#ending === undefined) return undefined;
    if (this.#isSummarised || this.#options.summary === false) return stop('loop-detected', this.#ending.message);
    return asksForSummary(event, this.#ending.message);
  }

  /** The end that a turn in a loop comes to, also when its summary fails. */
  end(event: TurnEventOf<'turn.stop'>): Decision {
    if (this.#ending === undefined || (event.outcome !== 'completed' && event.outcome !== 'error')) return undefined;
    return { ...event, outcome: 'loop-detected', reason: this.#ending.message };
  }

  get #isRefused(): boolean {
    return this.#batch.level === 'block' || this.#batch.level === 'break';
  }

  #isCulprit(id: string): boolean {
    if (this.#batch.detector === 'repeated-steps') return true;
    const level = this.#planned.get(id)?.verdict.level;
    return level === 'block' || level === 'break';
  }

  /** Tells observers once a step. */
  #tell(tool: string): readonly ReturnType<typeof notice<'loop.warning'>>[] {
    if (this.#isTold) return [];
    this.#isTold = true;
    return [notice('loop.warning', { ...this.#batch, tool })];
  }

  /** Whether a warning has not been given for a while. */
  #isDue({ key, level }: LoopVerdict): boolean {
    const before = this.#warned.get(key);
    if (level === 'warn' && before !== undefined && this.#results - before < (this.#options.warnEvery ?? 5)) {
      return false;
    }
    this.#warned.set(key, this.#results);
    return true;
  }
}

/** What was learnt from a result before a crash; what is replayed may have been cut since. */
const recordedIn = (event: TurnEventOf<'tool.result'>): Fingerprint | undefined => {
  const own = event.replayed === true ? event.annotations?.[operatorName] : undefined;
  if (typeof own !== 'object' || own === null || !('outcome' in own) || typeof own['outcome'] !== 'string') {
    return undefined;
  }
  const { outcome } = own;
  return typeof own['failure'] === 'string' ? { outcome, failure: own['failure'] } : { outcome };
};
