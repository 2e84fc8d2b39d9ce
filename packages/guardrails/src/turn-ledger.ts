import { type AssistantMessage, type TurnEventOf, type Usage, type UserMessage } from '@h/turn';
import { type CostForecast, forecastCost, knownCost, type ModelCall } from './model-call.js';
import type { Amounts } from './counters.js';
import { charsOf, InputEstimate, visitTexts } from './token-estimate.js';
import type { GuardrailsSettings } from './options.js';
import { ownName, TurnAccounts } from './turn-accounts.js';

type Request = TurnEventOf<'model.request'>;
type Response = TurnEventOf<'model.response'>;
type Failure = TurnEventOf<'model.error'>;
type Call = TurnEventOf<'tool.call'>;
type Result = TurnEventOf<'tool.result'>;

/** Results of calls that never ran. */
const neverRan: ReadonlySet<Result['status']> = new Set<Result['status']>([
  'denied',
  'skipped',
  'unknown-tool',
  'invalid-input',
]);

/** The code of the error with which the runner answers an abandoned call. */
const aborted = 'aborted';

/** Keys of pending amounts. */
const pendingInput = (id: string): string => `input ${id}`;
const pendingAnswer = 'answer';
const pendingSteps = 'steps';
const pendingCall = (id: string): string => `call ${id}`;

/** The use of an answer. */
interface Answer {
  readonly event: Response;
  readonly usage: Usage;
  readonly amounts: Amounts;
}

/**
 * What a turn uses.
 *
 * Methods with the name of an event count it once it has happened. Methods that begin with `expect` count an event as
 * pending when it is decided, so that the next decision includes it.
 */
export class TurnLedger {
  readonly accounts: TurnAccounts;
  readonly #settings: GuardrailsSettings;
  #estimate: InputEstimate | undefined;
  /** The model call under way, which limits and reserves its output. */
  #call: ModelCall | undefined;
  /** The number of counted steps. */
  #steps = 0;
  /** Whether a request has left and has no answer. */
  #isAsked = false;
  #sent = 0;
  /** What the call under way at a stop had used. */
  #underWay: Amounts = {};
  #asked: string | undefined;
  /** The name in the latest answer of the requested model. */
  #answered: string | undefined;
  #lastUsage: Usage | undefined;
  #measured: Answer | undefined;
  #unpriced: Set<string | undefined> | undefined;
  #counted: Set<string> | undefined;
  /** Results of the step that count as failed, and the others of calls that ran. */
  #failed = 0;
  #notFailed = 0;

  constructor(settings: GuardrailsSettings) {
    this.#settings = settings;
    this.accounts = new TurnAccounts(settings);
  }

  /** The model call under way. */
  get call(): ModelCall | undefined {
    return this.#call;
  }

  /** @param id - the id of the message; none for the input with which the turn starts */
  expectInput(messages: readonly UserMessage[], id = ''): void {
    if (this.accounts.has('maxInputChars')) {
      this.accounts.expect(pendingInput(id), { inputChars: charsOfAll(messages) });
    }
  }

  heard(messages: readonly UserMessage[], id = ''): void {
    const { accounts } = this;
    if (!accounts.counts('maxInputChars')) return;
    if (accounts.hasPending) accounts.settle(pendingInput(id));
    accounts.spend({ inputChars: charsOfAll(messages) });
  }

  /**
   * Prepares for the request of a step. Earlier steps without an answer count as made: an operator further down has
   * replaced their requests.
   *
   * @returns the number of these steps
   */
  expectStep(step: number): number {
    this.#endCall();
    const missing = Math.max(0, step - 1 - this.#steps);
    this.accounts.settle(pendingSteps);
    if (missing > 0) this.accounts.expect(pendingSteps, { steps: missing });
    return missing;
  }

  get #input(): InputEstimate {
    return (this.#estimate ??= new InputEstimate(this.#settings.estimateTokens));
  }

  /** The estimated input tokens of a request; 0 if no account needs them. */
  sizeOf(request: Request): number {
    return this.accounts.isMetered ? this.#input.of(request) : 0;
  }

  /** The estimate of the latest request without what the provider's counts have taught, for the annotation. */
  get rawEstimate(): number {
    return this.#input.latest;
  }

  /** The forecast cost of a request; `undefined` if the price is unknown. */
  costOf(request: Request, inputTokens: number): CostForecast | undefined {
    if (!this.accounts.isMetered || this.#settings.costOf === undefined) return undefined;
    const answered = request.model === this.#asked ? this.#answered : undefined;
    const model = { asked: request.model, answered };
    return forecastCost(this.#settings.costOf, inputTokens, this.#lastUsage, model);
  }

  /** Records the room of the call that is about to begin. */
  expectCall(call: ModelCall): void {
    this.#call = call;
  }

  requested(request: Request): void {
    this.accounts.settle(pendingSteps);
    const missing = request.step - 1 - this.#steps;
    if (missing > 0) this.#count({ steps: missing });
    this.#isAsked = true;
    if (request.model !== this.#asked) this.#answered = undefined;
    this.#asked = request.model;
    const noted = request.annotations?.[ownName] as
      | { readonly estimate?: number; readonly elapsedMs?: number }
      | undefined;
    if (noted?.elapsedMs !== undefined) this.accounts.clocked(request.at, noted.elapsedMs);
    if (this.accounts.isMetered) this.#sent = this.#input.sent(request, noted?.estimate);
  }

  /** Counts an answer as pending. Returns the model if its price is unknown and not yet reported as such. */
  expectAnswer(event: Response, isForced: boolean): { readonly model?: string | undefined } | undefined {
    const { amounts } = this.#measure(event, isForced);
    this.accounts.expect(pendingAnswer, amounts);
    const model = this.#asked ?? event.model;
    return (amounts.unpricedCalls ?? 0) > 0 && this.#unpriced?.has(model) !== true ? { model } : undefined;
  }

  /** Counts an answer. An answer with which the model finished on its own is a completion. */
  answered(event: Response, isForced: boolean): void {
    this.accounts.settle(pendingAnswer);
    const { usage, amounts } = this.#measure(event, isForced);
    this.#measured = undefined;
    if (this.accounts.isMetered) this.#input.learn(event.usage, { role: 'assistant', content: event.content });
    this.#answered = event.model ?? this.#answered;
    this.#lastUsage = usage;
    this.#count(amounts);
    this.#close();
  }

  /** Records that the unknown price of a model was reported. */
  reportedUnpriced(model: string | undefined): void {
    (this.#unpriced ??= new Set()).add(model);
  }

  /** What a failed call has used by estimate, for the annotation; `undefined` if its event contains the use. */
  useOf({ error, usage, annotations }: Failure): Amounts | undefined {
    if (!this.#isAsked || annotations?.[ownName] !== undefined) return undefined;
    if (error.code === aborted) return this.#abandonedUse();
    const used = usage ? {} : (this.#call?.failedUse ?? {});
    return Object.keys(used).length === 0 ? undefined : used;
  }

  failed({ error, usage, annotations }: Failure): void {
    if (!this.#isAsked) return;
    const noted = annotations?.[ownName] as Amounts | undefined;
    if (noted?.steps === 1 || (noted === undefined && error.code === aborted)) {
      // The runner ends a turn that has lost its subscriber without deciders, so that this event has no annotation.
      this.#count(noted ? { ...noted, steps: 1 } : this.#abandonedUse());
      this.#close();
      return;
    }
    this.#call?.fail();
    this.accounts.spend(usage ? this.#amountsOf(usage, this.#answered) : (noted ?? {}));
  }

  expectToolCall({ call }: Call): void {
    if (this.accounts.has('maxToolCalls')) this.accounts.expect(pendingCall(call.id), { toolCalls: 1 });
  }

  called({ call, denied }: Call): void {
    if (!this.accounts.counts('maxToolCalls')) return;
    if (this.accounts.hasPending) this.accounts.settle(pendingCall(call.id));
    if (denied) return;
    (this.#counted ??= new Set()).add(call.id);
    this.accounts.spend({ toolCalls: 1 });
  }

  resulted(result: Result): void {
    const { status, call } = result;
    if (this.accounts.hasPending) this.accounts.settle(pendingCall(call.id));
    if (this.#counted?.delete(call.id) === true && neverRan.has(status)) this.accounts.spend({ toolCalls: -1 });
    if (this.#settings.isException(result)) {
      this.#failed += 1;
      this.accounts.spend({ exceptions: 1 });
    } else if (!neverRan.has(status) && status !== 'cancelled') this.#notFailed += 1;
  }

  /** Records that all calls of a step have results. Calls that never ran do not affect a series of failures. */
  stepEnded(): void {
    if (this.#failed + this.#notFailed > 0) this.accounts.endStep(this.#failed > 0);
    [this.#failed, this.#notFailed] = [0, 0];
    this.#counted?.clear();
  }

  stopped({ annotations }: TurnEventOf<'turn.stop'>): void {
    this.#underWay = (annotations?.[ownName] as Amounts | undefined) ?? {};
  }

  /** What a call without an answer adds at the end of the turn. */
  get unansweredUse(): Amounts {
    return this.#isAsked ? this.#abandonedUse() : {};
  }

  /** Counts a call without an answer and releases what is reserved. */
  ended(): void {
    if (this.#isAsked) this.#count(this.#abandonedUse());
    this.#close();
  }

  #abandonedUse(): Amounts & { readonly steps: number } {
    return { ...(this.#call?.estimate ?? this.#underWay), steps: 1 };
  }

  #count(amounts: Amounts): void {
    this.#steps += amounts.steps ?? 0;
    this.accounts.spend(amounts);
  }

  #close(): void {
    this.#isAsked = false;
    this.#endCall();
  }

  #endCall(): void {
    const call = this.#call;
    this.#call = undefined;
    call?.end();
  }

  /** The use of an answer, measured once for its decision and its count. */
  #measure(event: Response, isForced: boolean): Answer {
    if (this.#measured?.event === event) return this.#measured;
    const { content, finishReason, usage: reported } = event;
    const { isMetered } = this.accounts;
    const message: AssistantMessage = { role: 'assistant', content };
    const hasCalls = content.some(({ type }) => type === 'tool-call');
    const isReported = reported.input + reported.output > 0 || !isMetered;
    const usage = isReported ? reported : { ...reported, input: this.#sent, output: this.#tokensOf(message) };
    const isCompletion = !isForced && finishReason === 'stop' && !hasCalls;
    const amounts = this.#amountsOf(usage, event.model ?? this.#answered);
    amounts.steps = 1;
    if (this.accounts.counts('maxOutputChars')) amounts.outputChars = charsOf(message);
    if (isCompletion) amounts.completions = 1;
    this.#measured = { event, usage, amounts };
    return this.#measured;
  }

  #amountsOf(usage: Usage, answered: string | undefined): { -readonly [Name in keyof Amounts]: Amounts[Name] } {
    const { costOf } = this.#settings;
    const hasCost = costOf !== undefined || this.accounts.has('maxCost');
    const cost = hasCost ? knownCost(costOf, usage, { asked: this.#asked, answered }) : 0;
    return {
      steps: 0,
      inputTokens: usage.input,
      outputTokens: usage.output,
      cost: cost ?? 0,
      unpricedCalls: cost === undefined ? 1 : 0,
    };
  }

  #tokensOf(message: AssistantMessage): number {
    let tokens = 0;
    visitTexts(message, (text) => {
      tokens += this.#settings.estimateTokens(text);
    });
    return Math.ceil(tokens);
  }
}

const charsOfAll = (messages: readonly UserMessage[]): number => {
  let chars = 0;
  for (const message of messages) chars += charsOf(message);
  return chars;
};
