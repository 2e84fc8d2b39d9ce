import {
  annotate,
  deny,
  intercept,
  notice,
  stop,
  toolCallsOf,
  type AssistantPart,
  type Decision,
  type ErrorInfo,
  type OperatorContext,
  type ToolResultOutput,
  type TurnEventOf,
  type TurnOperator,
  type UserMessage,
} from '@h/turn';
import type { DescribedCall } from './call.js';
import { createChantingDetector, type ChantingDetector } from './chanting.js';
import { Detector } from './detector.js';
import { checkOperatorOptions, type LoopDetectOptions } from './options.js';
import type { Fingerprint } from './outcome.js';
import { Recent } from './recent.js';
import { fine, worstOf, type LoopVerdict } from './verdict.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A loop was found. Depending on its level the model is warned, its calls are refused, or the turn is about to end. */
    'loop.warning': LoopVerdict & { readonly tool?: string | undefined };
  }
}

/** The name under which this operator denies and annotates. */
const operatorName = 'loop-detect';
/** Origin of a history that was replaced by a briefing, which this operator sees only in a replay: the operator for it comes later. */
const handOff = 'handoff';
const maxWarnings = 64;
const chantingCode = 'chanting';
const chantingMessage = 'The answer repeated itself and was cut off. Say it once, briefly, or use a tool.';

/**
 * Gets a turn out of loops: calls that make no progress, and answers that repeat themselves.
 *
 * First the result of a repeated call carries a warning. If the outcomes show no progress, all calls of the step are refused and the
 * model has one step to do something else. If it does not, its calls are refused again, the model sums up without tools, and the turn
 * ends as `loop-detected`. An answer that repeats itself is cut off and retried once; the second time the turn ends. A message from
 * the user resets everything.
 *
 * @throws InvalidOptionError (`invalid-option`) names the option, its value and what it accepts
 *
 * @example
 * ```ts
 * harness({ model, tools }).pipe(compaction(options), loopDetect(), tools({ driver }), security(policy));
 * ```
 */
export const loopDetect = (options: LoopDetectOptions = {}): TurnOperator => {
  checkOperatorOptions(options);
  return intercept(operatorName, (operator) => {
    const calls = new CallWatch(options);
    const answers = new AnswerWatch(options, operator);
    return {
      observe: {
        'history.append': (event) => {
          if (!isFromUser(event)) return;
          calls.reset();
          answers.reset();
        },
        'history.replace': ({ origin }) => {
          if (origin !== handOff) calls.forgive();
        },
        'model.request': (event) => answers.begin(event),
        'model.error': (event) => answers.recall(event),
        'model.response': ({ content }) => {
          answers.complete();
          calls.plan(content);
        },
        'tool.call': (event) => calls.recall(event),
        'tool.result': (event) => calls.record(event),
      },
      decide: {
        'model.request': (event) => calls.shape(event) ?? answers.shape(event),
        'model.delta': (event) => answers.read(event, calls.isEnding),
        'tool.call': (event) => calls.decide(event),
        'tool.result': (event) => calls.mark(event),
        'turn.stop': (event) => calls.end(event),
      },
    };
  });
};

/** Whether a user sent a message into the running turn; internal messages are not new input. */
const isFromUser = ({ origin, messages }: TurnEventOf<'history.append'>): boolean =>
  origin === 'steering' && messages.some(({ metadata }) => metadata?.internal !== true);

/** Counts steps in a row that request the same calls, in any order. */
class RepeatedSteps {
  readonly #max: number;
  #signature = '';
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  record(keys: readonly string[]): LoopVerdict | undefined {
    if (this.#max === Infinity) return undefined;
    const signature = keys.toSorted().join('\n');
    this.#count = signature !== '' && signature === this.#signature ? this.#count + 1 : 1;
    this.#signature = signature;
    const isWarning = this.#count === this.#max - 1 && this.#count > 1;
    if (signature === '' || (this.#count < this.#max && !isWarning)) return undefined;
    return {
      level: isWarning ? 'warn' : 'break',
      detector: 'repeated-steps',
      message: `The same calls were requested ${this.#count} times in a row. Try another approach.`,
      key: 'repeated-steps',
    };
  }

  reset(): void {
    this.#signature = '';
    this.#count = 0;
  }
}

/** A call of the current step and its verdict before it ran. */
interface PlannedCall {
  readonly described: DescribedCall;
  readonly verdict: LoopVerdict;
}

/** The tool calls of one turn, and which stage the turn has reached: warned, refused, ending. */
class CallWatch {
  readonly #options: LoopDetectOptions;
  readonly #detector: Detector;
  readonly #steps: RepeatedSteps;
  /** Number of the result in which each warning was last given. */
  readonly #warned = new Recent<string, number>(maxWarnings);
  #planned: ReadonlyMap<string, PlannedCall> = new Map();
  /** The verdict about the step as a whole. */
  #step: LoopVerdict = fine('');
  #isStepReported = false;
  #results = 0;
  #latest: { readonly verdict: LoopVerdict; readonly isDue: boolean; readonly print: Fingerprint } | undefined;
  /** Why the turn is about to end. */
  #ending: LoopVerdict | undefined;
  #isSummarized = false;

  constructor(options: LoopDetectOptions) {
    this.#options = options;
    this.#detector = new Detector(options);
    this.#steps = new RepeatedSteps(options.maxRepeatedSteps ?? Infinity);
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  reset(): void {
    this.#detector.reset();
    this.#steps.reset();
    this.#warned.clear();
    this.#ending = undefined;
    this.#isSummarized = false;
  }

  forgive(): void {
    this.#detector.forgive();
  }

  /** Judges the calls of an answer together. */
  plan(content: readonly AssistantPart[]): void {
    this.#isSummarized = this.#ending !== undefined;
    this.#detector.beginBatch();
    const calls = toolCallsOf({ role: 'assistant', content }).map(({ toolCallId, toolName, input }): PlannedCall => {
      const described = this.#detector.describe({ id: toolCallId, name: toolName, input });
      return { described, verdict: this.#detector.judge(described) };
    });
    this.#planned = new Map(calls.map((planned) => [planned.described.call.id, planned]));
    const step = this.#steps.record(calls.map(({ described }) => described.key));
    this.#step = worstOf([...calls.map(({ verdict }) => verdict), step], fine(''));
    this.#isStepReported = false;
  }

  /** Notes during a replay that the verdict about this step was reported. */
  recall({ replayed, denied }: TurnEventOf<'tool.call'>): void {
    if (replayed === true && denied?.by === operatorName) this.#isStepReported = true;
  }

  /** Lets a call pass, or refuses it together with all calls of its step. */
  decide(event: TurnEventOf<'tool.call'>): Decision {
    if (this.#ending) return stop('loop-detected', this.#ending.message);
    if (this.#step.level !== 'block' && this.#step.level !== 'break') return undefined;
    const refused = deny(event, refusal(this.#step, this.#isCause(event.call.id), event.call.name), operatorName);
    if (this.#isStepReported) return refused;
    this.#isStepReported = true;
    return [refused, notice('loop.warning', { ...this.#step, tool: event.call.name })];
  }

  /** Records a result as it came from the tool, before any operator changed it. */
  record(event: TurnEventOf<'tool.result'>): void {
    this.#latest = undefined;
    this.#results += 1;
    const { status } = event;
    if (status === 'denied' && this.#step.level === 'break') this.#ending = this.#step;
    // A call that was refused only because of another call of its step says nothing about itself.
    if (status === 'denied' && event.by === operatorName && !this.#isCause(event.call.id)) return;
    const described = this.#planned.get(event.call.id)?.described ?? this.#detector.describe(event.call);
    const print = recordedIn(event) ?? this.#detector.fingerprint(described.call, event);
    const found = this.#detector.record(described, status, print, event.call.effect);
    const verdict =
      status === 'denied' ? fine('') : worstOf([found, this.#step.level === 'warn' ? this.#step : undefined], found);
    if (verdict.level === 'break') this.#ending = verdict;
    this.#latest = { verdict, isDue: verdict.level !== 'ok' && this.#isDue(verdict), print };
  }

  /** Attaches the fingerprint of a result, for a resumed turn, and the warning for the model. */
  mark(event: TurnEventOf<'tool.result'>): Decision {
    if (this.#latest === undefined || event.status === 'denied') return undefined;
    const { verdict, isDue, print } = this.#latest;
    const marked = annotate(event, operatorName, { ...print });
    if (!isDue) return marked;
    return [
      { ...marked, output: withNote(event.output, verdict.message) },
      notice('loop.warning', { ...verdict, tool: event.call.name }),
    ];
  }

  /** Turns the next request of a turn that is about to end into a request for a summary. */
  shape(event: TurnEventOf<'model.request'>): Decision {
    if (this.#ending === undefined) return undefined;
    if (this.#isSummarized || this.#options.summary === false) return stop('loop-detected', this.#ending.message);
    return summaryRequest(event, this.#ending.message);
  }

  /** Sets the outcome of a turn that is about to end, also if its summary fails. */
  end(event: TurnEventOf<'turn.stop'>): Decision {
    if (this.#ending === undefined || (event.outcome !== 'completed' && event.outcome !== 'error')) return undefined;
    return { ...event, outcome: 'loop-detected', reason: this.#ending.message };
  }

  /** Whether this call is a reason why its step was refused. */
  #isCause(id: string): boolean {
    if (this.#step.detector === 'repeated-steps') return true;
    const level = this.#planned.get(id)?.verdict.level;
    return level === 'block' || level === 'break';
  }

  /** Whether a warning was not given within the last results. */
  #isDue({ key, level }: LoopVerdict): boolean {
    const before = this.#warned.get(key);
    if (level === 'warn' && before !== undefined && this.#results - before < (this.#options.warnEvery ?? 5)) {
      return false;
    }
    this.#warned.set(key, this.#results);
    return true;
  }
}

/** The fingerprint that was attached before a crash; the replayed result may have been shortened since. */
const recordedIn = ({ replayed, annotations }: TurnEventOf<'tool.result'>): Fingerprint | undefined => {
  const own = replayed === true ? annotations?.[operatorName] : undefined;
  return isFingerprint(own) ? own : undefined;
};

const isFingerprint = (value: unknown): value is Fingerprint => {
  if (typeof value !== 'object' || value === null) return false;
  const { outcome, shape, words } = value as Readonly<Record<string, unknown>>;
  return typeof outcome === 'string' && typeof shape === 'string' && typeof words === 'string';
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

const advice = (text: string): UserMessage => ({
  role: 'user',
  content: text,
  metadata: { internal: true, kind: operatorName },
});

/** The last request of a turn in a loop. The tools stay in it, so that the provider's cache still applies. */
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

/** The answers of one turn while they stream in. */
class AnswerWatch {
  readonly #operator: OperatorContext;
  readonly #detector: ChantingDetector | undefined;
  #request: TurnEventOf<'model.request'> | undefined;
  /** The model call whose answer was cut off. */
  #cutOff: { readonly step: number; readonly attempt: number } | undefined;
  #strikes = 0;
  #isAdviceDue = false;

  constructor({ chanting = {} }: LoopDetectOptions, operator: OperatorContext) {
    this.#operator = operator;
    this.#detector = chanting === false ? undefined : createChantingDetector(chanting);
  }

  reset(): void {
    this.#strikes = 0;
    this.#isAdviceDue = false;
  }

  begin(event: TurnEventOf<'model.request'>): void {
    this.#request = event;
    this.#detector?.reset();
  }

  complete(): void {
    this.#isAdviceDue = false;
  }

  /** Notes during a replay that an answer was cut off; its retry may not have been requested or answered. */
  recall({ error, replayed }: TurnEventOf<'model.error'>): void {
    if (replayed !== true || error.code !== chantingCode) return;
    this.#strikes += 1;
    this.#isAdviceDue = true;
  }

  shape(event: TurnEventOf<'model.request'>): TurnEventOf<'model.request'> {
    if (!this.#isAdviceDue) return event;
    this.#isAdviceDue = false;
    return { ...event, tail: [...event.tail, advice(chantingMessage)] };
  }

  /** Cuts off an answer that repeats itself: retries it once, and ends the turn the next time. */
  read(event: TurnEventOf<'model.delta'>, isLast: boolean): Decision {
    const { delta, step, attempt } = event;
    if (this.#detector === undefined || delta.type !== 'text' || this.#request === undefined) return undefined;
    if (this.#cutOff?.step === step && this.#cutOff.attempt === attempt) return undefined;
    if (!this.#detector.add(delta.text)) return undefined;
    this.#cutOff = { step, attempt };
    this.#detector.reset();
    this.#strikes += 1;
    if (isLast || this.#strikes > 1) {
      return [
        event,
        notice('loop.warning', chantingVerdict('break')),
        stop('loop-detected', 'The answer repeated itself again after it was cut off once.'),
      ];
    }
    const again = this.#operator.askAgain(this.#request, event);
    return [
      event,
      notice('loop.warning', chantingVerdict('block')),
      { type: 'model.error', step, attempt, error: cutOffError, retrying: true },
      { ...again, tail: [...again.tail, advice(chantingMessage)] },
    ];
  }
}

const cutOffError: ErrorInfo = {
  name: 'LoopError',
  code: chantingCode,
  message: 'The answer repeated itself and was cut off.',
};

const chantingVerdict = (level: LoopVerdict['level']): LoopVerdict => ({
  level,
  detector: 'chanting',
  message: chantingMessage,
  key: chantingCode,
});
