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
import { createMeter, type Meter } from './meter.js';
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

/** The size of a request in tokens, calibrated for its model. */
export interface RequestSize {
  readonly total: number;
  readonly overhead: number;
}

/** The latest counted request, for comparison with the reported usage. */
interface Asked {
  readonly model: string | undefined;
  readonly counts: Map<Meter['name'], number>;
}

/** The state of compaction during one turn. */
export class TurnState {
  readonly counter: TokenCounter;
  readonly place = { turn: '', session: '' };
  notes: Notes = noNotes;
  history: MessageList = MessageList.empty;
  isManual = false;
  /** The model whose tokenizer is used, because requests have come near the threshold. */
  exactModel: string | undefined;
  /** Whether the retry after an overflow error was used. */
  hasRecovered = false;
  /** The reason with which a turn ends that was begun to compact the history. */
  manualResult = 'The history could not be made shorter; it is as it was.';
  /** The latest request that has left. */
  lastRequest: TurnEventOf<'model.request'> | undefined;
  readonly #settings: CompactionSettings;
  readonly #meters = new Map<Meter['name'], Meter>();
  readonly #caps = new Map<string, number>();
  readonly #answers = new Map<string, string>();
  #asked: Asked | undefined;
  #written: Notes = noNotes;

  constructor(settings: CompactionSettings) {
    this.#settings = settings;
    this.counter = settings.newCounter();
  }

  /** Counts messages as they arrive, so that the next request finds them counted. */
  warmUp(messages: Iterable<Message>): void {
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
      for (const [model, factor] of Object.entries(this.notes.factors)) {
        this.counter.calibration.suggest(model, 'estimate', factor);
      }
    } else if (key.startsWith(answerPrefix)) {
      const question = key.slice(answerPrefix.length);
      if (typeof value === 'string') this.#answers.set(question, value);
      else this.#answers.delete(question);
    }
  }

  /** The limits for the model of this request. */
  limits({ model, settings }: Pick<ModelRequest, 'model' | 'settings'>): Limits {
    const name = model ?? '';
    const known = Math.min(this.notes.windows[name] ?? Infinity, this.#caps.get(name) ?? Infinity);
    return limitsFor(this.#settings, model, settings, known);
  }

  /** Counts a request that may be sent. */
  measure(request: ModelRequest, kind: 'best' | 'estimate'): RequestSize {
    const { model } = request;
    const gauge = this.counter.gauge(model, kind);
    let meter = this.#meters.get(gauge.name);
    if (meter === undefined) this.#meters.set(gauge.name, (meter = createMeter(gauge)));
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
    if (this.notes.ineffective > 0 && this.notes.retryAt === 0) this.notes = { ...this.notes, ineffective: 0 };
  }

  /** Learns from a rejected request of this size; the error may name the window. */
  learnOverflow(model: string | undefined, tokens: number, named: number | undefined): void {
    // A number far from our own count is a limit on something else.
    const name = model ?? '';
    if (named === undefined || named < tokens * leastOfCount) this.#caps.set(name, tokens);
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
  get hasNews(): boolean {
    return this.notes !== this.#written;
  }

  /** The commands that store changed notes in the session. */
  changedNotes(): readonly NewEvent[] {
    if (!this.hasNews) return [];
    this.#written = this.notes;
    return [keep(notesKey, notesToJson(this.notes))];
  }

  /** Answers of summarizers; each is stored at once, so that it is not paid for again after a crash. */
  answers(emit: (event: NewEvent) => void): Answers {
    return {
      get: (question) => this.#answers.get(question),
      set: (question, answer) => {
        this.#answers.set(question, answer);
        if (this.#settings.memory === undefined) emit(keep(answerPrefix + question, answer));
      },
    };
  }

  /** The commands that remove used answers from the session. */
  forgetAnswers(): readonly NewEvent[] {
    const questions = [...this.#answers.keys()];
    this.#answers.clear();
    return this.#settings.memory === undefined ? questions.map((question) => keep(answerPrefix + question, null)) : [];
  }
}
