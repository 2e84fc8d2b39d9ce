import { toolCallsOf, type AssistantMessage, type TurnEventOf, type Usage, type UserMessage } from '@h/turn';
import { type CostForecast, forecastCost, knownCost, type ModelCall } from './model-call.js';
import type { Amounts } from './counters.js';
import { charsOf, InputEstimate, visitTexts } from './token-estimate.js';
import type { GuardrailsSettings } from './options.js';
import { ownName, TurnAccounts } from './turn-accounts.js';

type Request = TurnEventOf<'model.request'>;
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

/** Records what a turn uses, live and replayed alike. */
export class TurnLedger {
  readonly accounts: TurnAccounts;
  /** The model call under way. */
  call: ModelCall | undefined;
  readonly #settings: GuardrailsSettings;
  readonly #input: InputEstimate;
  /** The current step, and the number of counted steps. */
  #step = 0;
  #steps = 0;
  #isAsked = false;
  #sent = 0;
  /** What the call under way at a stop had used. */
  #underWay: Amounts = {};
  #model: string | undefined;
  #lastUsage: Usage | undefined;
  readonly #unpriced = new Set<string | undefined>();
  #newlyUnpriced: { readonly model: string | undefined } | undefined;
  readonly #counted = new Set<string>();
  #results = { failed: 0, other: 0 };

  constructor(settings: GuardrailsSettings) {
    this.#settings = settings;
    this.accounts = new TurnAccounts(settings);
    this.#input = new InputEstimate(settings.estimateTokens);
  }

  heard(messages: readonly UserMessage[]): void {
    let inputChars = 0;
    for (const message of messages) inputChars += charsOf(message);
    this.accounts.spend({ inputChars });
  }

  /** Records that a step begins. Earlier steps that an operator below answered count as made. */
  reached(step: number): void {
    if (step > this.#step && this.#isAsked) this.#close();
    const missing = step - 1 - this.#steps;
    if (missing > 0) this.#count({ steps: missing });
    this.#step = step;
  }

  /** The estimated input tokens of a request. */
  sizeOf(request: Request): number {
    return this.#input.of(request);
  }

  /** The forecast cost of a request; `undefined` if the price is unknown. */
  costOf(request: Request, inputTokens: number): CostForecast | undefined {
    return forecastCost(
      this.#settings.costOf,
      inputTokens,
      this.#lastUsage,
      this.#lastUsage === undefined ? request.model : this.#model,
    );
  }

  asked(request: Request): void {
    this.#isAsked = true;
    this.#sent = this.#input.of(request);
    this.#model = request.model;
  }

  /** Records an answer. An answer with which the model finished on its own is a completion. */
  answered({ content, finishReason, usage, model }: TurnEventOf<'model.response'>, isForced: boolean): void {
    const message: AssistantMessage = { role: 'assistant', content };
    const isReported = usage.input + usage.output > 0;
    if (isReported) this.#input.learn(usage, message);
    const counted = isReported ? usage : { ...usage, input: this.#sent, output: this.#tokensOf(message) };
    this.#model = model ?? this.#model;
    this.#lastUsage = counted;
    const isCompletion = !isForced && finishReason === 'stop' && toolCallsOf(message).length === 0;
    this.#count({
      ...this.#amountsOf(counted),
      steps: 1,
      outputChars: charsOf(message),
      completions: isCompletion ? 1 : 0,
    });
    this.#close();
  }

  /** Records a failed call. Without reported usage its output so far is estimated and returned, for the annotation. */
  failed({ error, usage, annotations }: TurnEventOf<'model.error'>): Amounts {
    if (!this.#isAsked) return {};
    const noted = annotations?.[ownName] as Amounts | undefined;
    if (noted?.steps === 1 || (noted === undefined && error.code === aborted)) return this.#abandoned(noted);
    const estimate = this.call?.fail() ?? {};
    this.accounts.spend(usage ? this.#amountsOf(usage) : (noted ?? estimate));
    return usage || noted ? {} : estimate;
  }

  /** Records a stop before the process died, with the use of the call under way. */
  stopped({ annotations }: TurnEventOf<'turn.stop'>): void {
    this.#underWay = (annotations?.[ownName] as Amounts | undefined) ?? {};
  }

  called(event: TurnEventOf<'tool.call'>): void {
    this.#counted.add(event.call.id);
    this.accounts.spend({ toolCalls: 1 });
  }

  resulted(result: Result): void {
    if (this.#counted.delete(result.call.id) && neverRan.has(result.status)) this.accounts.spend({ toolCalls: -1 });
    if (this.#settings.isException(result)) {
      this.#results.failed += 1;
      this.accounts.spend({ exceptions: 1 });
    } else if (!neverRan.has(result.status) && result.status !== 'cancelled') this.#results.other += 1;
  }

  /** Records that all calls of a step have results. Calls that never ran do not affect a series of failures. */
  stepEnded(): void {
    const { failed, other } = this.#results;
    if (failed + other > 0) this.accounts.endStep(failed > 0);
    this.#results = { failed: 0, other: 0 };
    this.#counted.clear();
  }

  /** Counts the use so far of a call whose answer is no longer awaited. */
  abandonCall(): void {
    if (this.#isAsked) this.#abandoned(undefined);
  }

  /** Returns each model with an unknown price once. */
  takeUnpriced(): { readonly model?: string | undefined } | undefined {
    const found = this.#newlyUnpriced;
    this.#newlyUnpriced = undefined;
    return found;
  }

  #abandoned(noted: Amounts | undefined): Amounts {
    const used = noted ?? this.call?.estimate ?? this.#underWay;
    this.#count({ ...used, steps: 1 });
    this.#close();
    return { ...used, steps: 1 };
  }

  #count(amounts: Amounts & { readonly steps: number }): void {
    this.#steps += amounts.steps;
    this.accounts.spend(amounts);
  }

  #close(): void {
    this.#isAsked = false;
    this.call?.end();
    this.call = undefined;
  }

  #amountsOf(usage: Usage): Amounts {
    const tokens = { inputTokens: usage.input, outputTokens: usage.output };
    const { costOf } = this.#settings;
    if (costOf === undefined && !this.accounts.has('maxCost')) return tokens;
    const cost = knownCost(costOf, usage, this.#model);
    if (cost !== undefined) return { ...tokens, cost };
    if (!this.#unpriced.has(this.#model)) this.#newlyUnpriced = { model: this.#model };
    this.#unpriced.add(this.#model);
    return { ...tokens, unpricedCalls: 1 };
  }

  #tokensOf(message: AssistantMessage): number {
    let tokens = 0;
    visitTexts(message, (text) => {
      tokens += this.#settings.estimateTokens(text);
    });
    return Math.ceil(tokens);
  }
}
