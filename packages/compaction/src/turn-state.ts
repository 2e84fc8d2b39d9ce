import {
  keep,
  MessageList,
  type JSONObject,
  type JSONValue,
  type Message,
  type ModelRequest,
  type NewEvent,
  type TurnEventOf,
  type Usage,
} from '@h/turn';
import type { TokenCounter } from './counting/token-counter.js';
import { limitsFor, type Limits } from './limits.js';
import type { TokenGauge } from './counting/gauge.js';
import { createMeter, type CountedRequest, type Meter } from './meter.js';
import { noNotes, notesToJson, readNotes, type Notes } from './notes.js';
import type { CompactionSettings } from './settings.js';
import type { Answers } from './summary/interview.js';

/** The session's keys for notes, and for answers of summarizers until they are used. */
const notesKey = 'compaction';
const answerPrefix = 'compaction.answer.';

/** A factor is stored again if it has changed by this much. */
const notableChange = 0.05;

/** A named window below this share of the rejected request is not a context window. */
const leastOfCount = 0.05;

/** A request whose bound is below this share of a limit is not counted. */
const farShare = 0.5;

/** Usage is not trusted if the bound is this many times as large: it probably lacks the cached tokens. */
const mostOverReport = 20;

/** The size of a request in tokens, calibrated for its model. */
export interface RequestSize {
  readonly total: number;
  readonly overhead: number;
}

/** The latest counted request, for comparison with the reported usage. */
interface Asked {
  readonly model: string | undefined;
  readonly counts: Map<TokenGauge['name'], number>;
}

/** The bound of the latest request, and what the provider has reported for it. */
interface Bounded {
  readonly request: ModelRequest;
  readonly bound: CountedRequest;
  /** Reported input tokens; `undefined` until the answer. */
  input?: number | undefined;
}

/** The state of compaction during one turn. */
export class TurnState {
  readonly place = { turn: '', session: '' };
  notes: Notes = noNotes;
  history: MessageList = MessageList.empty;
  isManual = false;
  /** The model whose tokenizer is used, because requests have come near the threshold. */
  exactModel: string | undefined;
  /** Whether the retry after an overflow error was used. */
  hasRecovered = false;
  /** The reason with which a turn ends that was begun to compact the history. */
  manualResult = 'The history could not be compacted and is unchanged.';
  /** The latest request that has left. */
  lastRequest: TurnEventOf<'model.request'> | undefined;
  readonly #settings: CompactionSettings;
  #counter: TokenCounter | undefined;
  #meters: Map<TokenGauge['name'], Meter> | undefined;
  #boundMeter: Meter | undefined;
  #caps: Map<string, number> | undefined;
  #answers: Map<string, string> | undefined;
  #asked: Asked | undefined;
  #bounded: Bounded | undefined;
  /** Whether the latest request was counted, because it was not far below its limit. */
  #isCounting: boolean;
  #written: Notes = noNotes;

  constructor(settings: CompactionSettings) {
    this.#settings = settings;
    this.#isCounting = settings.bound === undefined;
  }

  /** Counts tokens; made when the first request must be counted. */
  get counter(): TokenCounter {
    if (this.#counter !== undefined) return this.#counter;
    this.#counter = this.#settings.newCounter();
    this.#suggestFactors(this.#counter);
    return this.#counter;
  }

  /**
   * Whether a request is at most half as long as the limit, as far as that can be shown without counting: by the length
   * of its texts, or by the reported usage of the latest request and the length of what was added since.
   */
  isFarBelow(limit: number, request: ModelRequest): boolean {
    if (this.#settings.bound === undefined) return false;
    const before = this.#bounded;
    const bound = this.#bound(request);
    const known = this.notes.factors[request.model ?? ''] ?? 1;
    const factor = Math.max(1, this.#counter?.calibration.factor(request.model, 'estimate') ?? known);
    const allowed = limit * farShare;
    const isFar =
      (bound.messages + bound.overhead) * factor <= allowed ||
      sizeAfterReport(before, request, bound, factor) <= allowed;
    if (!isFar && !this.#isCounting) this.#calibrate(before);
    this.#isCounting = !isFar;
    return isFar;
  }

  /** Records a request that has left. */
  sent(request: TurnEventOf<'model.request'>): void {
    this.lastRequest = request;
    if (this.#settings.memory !== undefined) return;
    if (this.#isCounting) this.measure(request, 'estimate');
    if (this.#settings.bound !== undefined) this.#bound(request);
  }

  #bound(request: ModelRequest): CountedRequest {
    const gauge = this.#settings.bound;
    if (gauge === undefined) throw new TypeError('A counter without a bound counts every request.');
    this.#boundMeter ??= createMeter(gauge);
    const bound = this.#boundMeter.measure(request);
    this.#bounded = { request, bound };
    return bound;
  }

  /** Calibrates the counter by a request that was not counted before its answer. */
  #calibrate({ request, input }: Partial<Bounded> = {}): void {
    if (request === undefined || input === undefined) return;
    this.measure(request, 'estimate');
    this.#learn(input);
  }

  /** Counts messages as they arrive, so that the next request finds them counted. */
  warmUp(messages: Iterable<Message>): void {
    if (!this.#isCounting) return;
    const estimate = this.counter.gauge(undefined, 'estimate');
    const exact = this.exactModel === undefined ? estimate : this.counter.gauge(this.exactModel);
    for (const message of messages) {
      estimate.message(message);
      if (exact !== estimate) exact.message(message);
    }
  }

  /** Loads what earlier turns stored in the session. */
  load(kept: Readonly<Record<string, JSONValue>>): void {
    for (const [key, value] of Object.entries(kept)) this.recall(key, value);
  }

  /** Records a stored value of the session. */
  recall(key: string, value: JSONValue): void {
    if (key === notesKey) {
      this.takeOver(readNotes(value));
      if (this.#counter !== undefined) this.#suggestFactors(this.#counter);
    } else if (key.startsWith(answerPrefix)) {
      const question = key.slice(answerPrefix.length);
      if (typeof value === 'string') (this.#answers ??= new Map()).set(question, value);
      else this.#answers?.delete(question);
    }
  }

  #suggestFactors({ calibration }: TokenCounter): void {
    for (const [model, factor] of Object.entries(this.notes.factors)) calibration.suggest(model, 'estimate', factor);
  }

  /** The limits for the model of this request. */
  limits({ model, settings }: Pick<ModelRequest, 'model' | 'settings'>): Limits {
    const name = model ?? '';
    const known = Math.min(this.notes.windows[name] ?? Infinity, this.#caps?.get(name) ?? Infinity);
    return limitsFor(this.#settings, model, settings, known);
  }

  /** Counts a request that may be sent. */
  measure(request: ModelRequest, kind: 'best' | 'estimate'): RequestSize {
    const { model } = request;
    const gauge = this.counter.gauge(model, kind);
    const meters = (this.#meters ??= new Map<TokenGauge['name'], Meter>());
    let meter = meters.get(gauge.name);
    if (meter === undefined) meters.set(gauge.name, (meter = createMeter(gauge)));
    const { messages, overhead } = meter.measure(request);
    if (this.#asked === undefined || this.#asked.model !== model) {
      this.#asked = { model, counts: new Map() };
    }
    this.#asked.counts.set(gauge.name, messages + overhead);
    const factor = this.counter.calibration.factor(model, gauge.name);
    return { total: (messages + overhead) * factor, overhead: overhead * factor };
  }

  /** Records a compaction that was journaled with the history or the error that it replaced. */
  compacted(annotations: JSONObject | undefined): void {
    const own = annotations?.['compaction'] as Partial<Record<string, JSONValue>> | null | undefined;
    const { trigger, tokensBefore, tokensAfter, tokens, window } = own ?? {};
    if (trigger === 'overflow') this.hasRecovered = true;
    if (trigger === 'manual') {
      this.manualResult = `The history was compacted from ${Number(tokensBefore)} to ${Number(tokensAfter)} tokens.`;
    }
    if (typeof tokens !== 'number') return;
    this.learnOverflow(this.lastRequest?.model, tokens, typeof window === 'number' ? window : undefined);
  }

  /** Records that the latest request has failed: no usage of it will be reported. */
  failed(): void {
    this.#asked = undefined;
  }

  /** Learns from the reported usage of the latest request. */
  learn({ input }: Usage): void {
    if (this.#bounded !== undefined) this.#bounded.input = input;
    this.#learn(input);
    if (this.notes.ineffective > 0 && this.notes.retryAt === 0) this.notes = { ...this.notes, ineffective: 0 };
  }

  #learn(input: number): void {
    if (this.#asked === undefined) return;
    const { model, counts } = this.#asked;
    const { calibration } = this.counter;
    for (const [gauge, counted] of counts) calibration.learn(model, gauge, counted, input);
    this.#asked = undefined;
    const factor = calibration.factor(model, 'estimate');
    const known = this.notes.factors[model ?? ''] ?? 1;
    if (Math.abs(factor - known) >= known * notableChange) {
      this.notes = { ...this.notes, factors: { ...this.notes.factors, [model ?? '']: factor } };
    }
  }

  /** Learns from a rejected request of this size; the error may name the window. */
  learnOverflow(model: string | undefined, tokens: number, named: number | undefined): void {
    // A number far from our own count is a limit on something else.
    const name = model ?? '';
    if (named === undefined || named < tokens * leastOfCount) (this.#caps ??= new Map()).set(name, tokens);
    else if (this.notes.windows[name] !== named) {
      this.notes = { ...this.notes, windows: { ...this.notes.windows, [name]: named } };
    }
  }

  /** Records the model of a request. Returns whether it changed. */
  switchTo(model: string | undefined): boolean {
    const { model: before } = this.notes;
    if (model === undefined || model === before) return false;
    this.notes = { ...this.notes, model };
    return before !== undefined;
  }

  /** Continues with notes that are stored elsewhere. */
  takeOver(notes: Notes): void {
    this.notes = notes;
    this.#written = notes;
  }

  /** Whether the notes differ from what the session has stored. */
  get hasChangedNotes(): boolean {
    return this.notes !== this.#written;
  }

  /** The commands that store changed notes in the session. */
  changedNotes(): readonly NewEvent[] {
    if (!this.hasChangedNotes) return [];
    this.#written = this.notes;
    return [keep(notesKey, notesToJson(this.notes))];
  }

  /** Answers of summarizers; each is stored at once, so that it is not paid for again after a crash. */
  answers(emit: (event: NewEvent) => void): Answers {
    return {
      get: (question) => this.#answers?.get(question),
      set: (question, answer) => {
        (this.#answers ??= new Map()).set(question, answer);
        if (this.#settings.memory === undefined) emit(keep(answerPrefix + question, answer));
      },
    };
  }

  /** The commands that remove used answers from the session. */
  forgetAnswers(): readonly NewEvent[] {
    const questions = [...(this.#answers?.keys() ?? [])];
    this.#answers = undefined;
    return this.#settings.memory === undefined ? questions.map((question) => keep(answerPrefix + question, null)) : [];
  }
}

/**
 * The reported size of the latest request with the bound of what was added since; `Infinity` without a plausible
 * report.
 */
const sizeAfterReport = (
  before: Bounded | undefined,
  { messages }: ModelRequest,
  bound: CountedRequest,
  factor: number,
): number => {
  if (before?.input === undefined || !messages.startsWith(before.request.messages)) return Infinity;
  const { messages: counted, overhead } = before.bound;
  if (counted + overhead > before.input * mostOverReport) return Infinity;
  const added = bound.messages - counted + (bound.overhead === overhead ? 0 : bound.overhead);
  return before.input + added * factor;
};
