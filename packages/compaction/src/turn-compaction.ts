import {
  annotate,
  MessageList,
  retry,
  stop,
  type DecideContext,
  type Decision,
  type DecisionInput,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
} from '@h/turn';
import { compactRequest, type Job, type Outcome } from './compact-request.js';
import { CompactionError } from './failure.js';
import { isBackingOff } from './notes.js';
import type { CompactionSettings } from './options.js';
import { contextWindowIn } from '@h/provider-errors';
import { hostOwner, sessionOwner, type HistoryOwner } from './owner.js';
import type { TurnState } from './turn-state.js';

type Request = TurnEventOf<'model.request'>;

/** Above this share of the limit the model's tokenizer is used instead of estimates, if it has one. */
const nearLimit = 0.9;
/** The factor by which an uncalibrated estimate may be too high. */
const estimateMargin = 1.35;

/** Decides about the requests of one turn. */
export class TurnCompaction {
  readonly #settings: CompactionSettings;
  readonly #state: TurnState;
  readonly #operator: OperatorContext;
  readonly #owner: HistoryOwner;

  constructor(settings: CompactionSettings, state: TurnState, operator: OperatorContext) {
    this.#settings = settings;
    this.#state = state;
    this.#operator = operator;
    this.#owner = settings.memory === undefined ? sessionOwner(state) : hostOwner(state, settings.memory);
  }

  /** Passes a request that fits, and holds one that must be compacted. */
  fit(given: Request, context: DecideContext): DecisionInput {
    const state = this.#state;
    if (state.isManual) return stop('replied', state.manualResult);
    const request = this.#owner.shown(given);
    if (state.measure(request, 'estimate').total <= state.limits(request).limit * nearLimit) {
      state.exactModel = undefined;
      state.switchTo(request.model);
      return this.#passed(request, given);
    }
    const judge = (): DecisionInput => this.#judge(request, given, context);
    return state.counter.canLoad(request.model)
      ? (state.counter.load(request.model).then(judge, judge) as Promise<Decision>)
      : judge();
  }

  /** Compacts the history after a request was too long for the provider, and has it sent again; once a turn. */
  recover(given: TurnEventOf<'model.error'>, context: DecideContext): DecisionInput {
    const state = this.#state;
    const { lastRequest: request } = state;
    if (
      given.retrying === true ||
      state.hasRecovered ||
      request === undefined ||
      !this.#settings.isOverflow(given.error)
    ) {
      return undefined;
    }
    const size = state.measure(request, 'best');
    const window = contextWindowIn(given.error);
    const event = annotate(given, 'compaction', {
      trigger: 'overflow',
      tokens: size.total,
      ...(window !== undefined && { window }),
    });
    state.learnOverflow(request.model, size.total, window);
    const { signal } = context;
    return this.#recovered(event, {
      request,
      trigger: 'overflow',
      handOff: false,
      size,
      limits: state.limits(request),
      signal,
    });
  }

  /** Compacts the history on request; the model request that follows ends the turn. */
  async compactNow(event: TurnEventOf<'history.append'>, context: DecideContext): Promise<Decision> {
    const { history: messages, notes } = this.#state;
    const request = {
      messages,
      system: [],
      tools: [],
      tail: [],
      settings: {},
      ...(notes.model !== undefined && { model: notes.model }),
    };
    const size = this.#state.measure(request, 'best');
    const outcome = await this.#attempt({
      request,
      trigger: 'manual',
      handOff: false,
      size,
      limits: this.#state.limits(request),
      signal: context.signal,
    });
    if (outcome === undefined) return undefined;
    return [...this.#commandsFor(outcome), { ...event, messages: [] }];
  }

  #judge(request: Request, given: Request, context: DecideContext): DecisionInput {
    const state = this.#state;
    const limits = state.limits(request);
    const size = state.measure(request, 'best');
    state.exactModel = request.model;
    const isSwitched = state.switchTo(request.model);
    if (size.total <= limits.limit || isBackingOff(state.notes, size.total, limits.usable)) {
      return this.#passed(request, given);
    }
    const missing = this.#missingRoom(request, size.overhead, limits.window);
    if (missing) return missing;
    const trigger = isSwitched ? 'model-switch' : 'threshold';
    return this.#shrink({ request, trigger, handOff: isSwitched, size, limits, signal: context.signal }, request);
  }

  #passed(request: Request, given: Request): DecisionInput {
    const commands = this.#owner.keep();
    if (commands.length > 0) return [...commands, request];
    return request === given ? undefined : request;
  }

  async #shrink(job: Job, request: Request): Promise<Decision> {
    const outcome = await this.#attempt(job);
    if (outcome === undefined) return undefined;
    const changed = outcome.messages ? { ...request, messages: MessageList.of(outcome.messages) } : request;
    return [...this.#commandsFor(outcome), changed];
  }

  async #recovered(event: TurnEventOf<'model.error'>, job: Job): Promise<Decision> {
    const outcome = await this.#attempt(job);
    if (outcome === undefined) return undefined;
    // The new history comes first, so that it is stored whatever happens to the rest.
    const commands = this.#commandsFor(outcome);
    return [...commands, outcome.messages === undefined ? event : retry(event)];
  }

  /** `undefined` if the turn has ended in the meantime. */
  async #attempt(job: Job): Promise<Outcome | undefined> {
    try {
      return await compactRequest(job, this.#settings, this.#state, this.#operator);
    } catch (error) {
      if (job.signal.aborted) return undefined;
      throw error;
    }
  }

  #commandsFor({ messages, annotation, notices }: Outcome): readonly NewEvent[] {
    const commands = messages === undefined ? this.#owner.keep() : this.#owner.replace(messages, annotation);
    return [...commands, ...notices];
  }

  /** Reports system prompt and tools that alone fill the window, which no compaction can help. */
  #missingRoom({ model }: Request, overhead: number, window: number): NewEvent | undefined {
    const { counter, notes } = this.#state;
    const gauge = counter.gauge(model).name;
    const isCertain = gauge !== 'estimate' || counter.calibration.factor(model, gauge) !== 1;
    const isKnown = this.#settings.hasWindow || notes.windows[model ?? ''] !== undefined;
    if (!isKnown || overhead <= window * (isCertain ? 1 : estimateMargin)) return undefined;
    const message = `System prompt, tools and tail take about ${Math.ceil(overhead)} tokens, and the window has ${window}: there is no room for a conversation. Offer fewer tools, or a shorter prompt.`;
    return stop('error', message, { name: CompactionError.name, code: 'overhead', message });
  }
}
