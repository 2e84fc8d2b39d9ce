import {
  andThen,
  annotate,
  MessageList,
  retry,
  stop,
  type DecideContext,
  type Decision,
  type DecisionInput,
  type ErrorInfo,
  type MaybePromise,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
} from '@h/turn';
import { archiver, compactRequest, summarizerContextOf, type Job, type Outcome } from './compact-request.js';
import { CompactionError } from './failure.js';
import { isBackingOff } from './notes.js';
import { effectOf, type LastResortDecision, type LastResortTurn } from './last-resort.js';
import type { CompactionSettings } from './settings.js';
import { contextWindowIn } from '@h/provider-errors';
import { hostOwner, sessionOwner, type HistoryOwner } from './owner.js';
import { reportOn } from './strategies/summarize.js';
import type { TurnState } from './turn-state.js';

type Request = TurnEventOf<'model.request'>;

/** Above this share of the limit the model's tokenizer is used instead of estimates, if it has one. */
const nearLimit = 0.9;
/** The factor by which an uncalibrated estimate may be too high. */
const estimateMargin = 1.35;

/** A request after the strategies, and the events to add before it. */
interface Fitted {
  readonly events: readonly NewEvent[];
  /** `undefined` if the turn stops instead. */
  readonly request: Request | undefined;
  /** The share of tokens that the strategies saved, if they were tried. */
  readonly saved?: number | undefined;
}

/** Decides about the requests of one turn. */
export class TurnCompaction {
  readonly #settings: CompactionSettings;
  readonly #state: TurnState;
  readonly #operator: OperatorContext;
  readonly #owner: HistoryOwner;
  readonly #lastResort: LastResortTurn | undefined;
  #isStopped = false;
  /** Cancels a compaction on request. */
  #onRequest: AbortController | undefined;

  constructor(
    settings: CompactionSettings,
    state: TurnState,
    operator: OperatorContext,
    lastResort: LastResortTurn | undefined,
  ) {
    this.#lastResort = lastResort;
    this.#settings = settings;
    this.#state = state;
    this.#operator = operator;
    this.#owner = settings.memory === undefined ? sessionOwner(state) : hostOwner(state, settings.memory);
  }

  /** Passes a request that fits, and holds one that must be compacted. The last strategy decides after the others. */
  fit(given: Request, context: DecideContext): DecisionInput {
    const state = this.#state;
    if (state.isManual) return stop('replied', state.manualResult);
    const request = this.#owner.shown(given);
    const settle = (fitted: Fitted): MaybePromise<Decision> => this.#settled(fitted, given, context);
    const near = state.limits(request).limit * nearLimit;
    if (state.isFarBelow(near, request) || state.measure(request, 'estimate').total <= near) {
      state.exactModel = undefined;
      state.switchTo(request.model);
      return settle(this.#passed(request));
    }
    const judge = (): MaybePromise<Fitted> => this.#judge(request, context);
    const fitted = state.counter.canLoad(request.model)
      ? state.counter.load(request.model).then(judge, judge)
      : judge();
    return andThen(fitted, settle);
  }

  /** Compacts the history after a request was too long for the provider, and sends it again, once per turn. */
  recover(given: TurnEventOf<'model.error'>, context: DecideContext): DecisionInput {
    const state = this.#state;
    const { lastRequest: request } = state;
    if (given.retrying === true || request === undefined || !this.#settings.isOverflow(given.error)) return undefined;
    if (state.hasRecovered) return this.#restarted({ events: [], request }, given, context);
    const size = state.measure(request, 'best');
    const window = contextWindowIn(given.error);
    const event = annotate(given, 'compaction', {
      trigger: 'overflow',
      tokens: size.total,
      ...(window !== undefined && { window }),
    });
    state.learnOverflow(request.model, size.total, window);
    return this.#recovered(event, { request, trigger: 'overflow', size, limits: state.limits(request), context });
  }

  /**
   * Stops a compaction on request when the turn stops: the turn does not end before the held event has left. A held
   * model request needs no such call, because the turn ends without it.
   */
  stop(): void {
    this.#isStopped = true;
    this.#onRequest?.abort();
  }

  /** Compacts the history on request; the model request that follows ends the turn. */
  async compactNow(event: TurnEventOf<'history.append'>, context: DecideContext): Promise<Decision> {
    if (this.#isStopped) return { ...event, messages: [] };
    const { history: messages, notes } = this.#state;
    const request = {
      messages,
      system: [],
      tools: [],
      tail: [],
      settings: {},
      ...(notes.model !== undefined && { model: notes.model }),
    };
    this.#onRequest = new AbortController();
    const outcome = await this.#attempt({
      request,
      trigger: 'manual',
      size: this.#state.measure(request, 'best'),
      limits: this.#state.limits(request),
      context: { signal: AbortSignal.any([context.signal, this.#onRequest.signal]) },
    });
    return [...(outcome === undefined ? [] : this.#commandsFor(outcome)), { ...event, messages: [] }];
  }

  #judge(request: Request, context: DecideContext): MaybePromise<Fitted> {
    const state = this.#state;
    const limits = state.limits(request);
    const size = state.measure(request, 'best');
    state.exactModel = request.model;
    const isSwitched = state.switchTo(request.model);
    if (size.total <= limits.limit || isBackingOff(state.notes, size.total, limits.usable)) {
      return this.#passed(request);
    }
    const missing = this.#missingRoom(request, size.overhead, limits.window);
    if (missing) return { events: [missing], request: undefined };
    const trigger = isSwitched ? 'model-switch' : 'threshold';
    return this.#shrink({ request, trigger, size, limits, context }, request);
  }

  #passed(request: Request): Fitted {
    return { events: this.#owner.keep(), request };
  }

  async #shrink(job: Job, request: Request): Promise<Fitted> {
    const outcome = await this.#attempt(job);
    if (outcome === undefined) return { events: [], request };
    const changed = outcome.messages ? { ...request, messages: MessageList.of(outcome.messages) } : request;
    return { events: this.#commandsFor(outcome), request: changed, saved: effectOf(outcome.notices) };
  }

  async #recovered(event: TurnEventOf<'model.error'>, job: Job & { readonly request: Request }): Promise<Decision> {
    const outcome = await this.#attempt(job);
    if (outcome === undefined) return undefined;
    // The new history comes first, so that it is stored whatever happens to the rest.
    const events = this.#commandsFor(outcome);
    if (outcome.messages !== undefined) return [...events, retry(event)];
    const { request, context } = job;
    return (
      (await this.#restarted({ events, request, saved: effectOf(outcome.notices) }, event, context)) ?? [
        ...events,
        event,
      ]
    );
  }

  /** The decision about a request, once the last strategy has decided. */
  #settled(fitted: Fitted, given: Request, context: DecideContext): MaybePromise<Decision> {
    const { events, request } = fitted;
    const passed = events.length === 0 && request === given ? undefined : [...events, ...(request ? [request] : [])];
    if (request === undefined) return passed;
    return this.#askLastResort({ ...fitted, request }, undefined, context, (decision) => {
      if (decision === undefined) return passed;
      const changed = decision.messages ? { ...request, messages: MessageList.of(decision.messages) } : request;
      return [...events, ...this.#restartWith(decision), changed];
    });
  }

  /** The decision about an overflow that the other strategies did not resolve. */
  #restarted(
    fitted: Fitted & { readonly request: Request },
    event: TurnEventOf<'model.error'>,
    context: DecideContext,
  ): MaybePromise<Decision> {
    return this.#askLastResort(fitted, event.error, context, (decision) => {
      if (decision === undefined) return undefined;
      const after = decision.messages === undefined ? event : retry(event);
      return [...fitted.events, ...this.#restartWith(decision), after];
    });
  }

  #askLastResort(
    { request, saved }: Fitted & { readonly request: Request },
    error: ErrorInfo | undefined,
    context: DecideContext,
    next: (decision: LastResortDecision | undefined) => Decision,
  ): MaybePromise<Decision> {
    if (this.#lastResort === undefined) return next(undefined);
    const { signal } = context;
    const work = summarizerContextOf(request.model, signal, this.#state, this.#operator);
    const decision = this.#lastResort.decide({
      request,
      saved,
      ...(error !== undefined && { error }),
      signal,
      count: work.count,
      archive: () => archiver(request.messages.toArray(), this.#settings, this.#state, work)(),
      report: (messages, options) =>
        reportOn(messages, options, { ...work, signal: options.signal }, this.#settings.summarizing),
    });
    return andThen(decision, next);
  }

  #restartWith({ messages, events }: LastResortDecision): readonly NewEvent[] {
    if (messages === undefined || this.#settings.lastResort === undefined) return events;
    const { name: origin } = this.#settings.lastResort;
    return [{ type: 'history.replace', messages, origin }, ...this.#state.forgetAnswers(), ...events];
  }

  /** `undefined` if the turn has ended in the meantime. */
  async #attempt(job: Job): Promise<Outcome | undefined> {
    try {
      return await compactRequest(job, this.#settings, this.#state, this.#operator);
    } catch (error) {
      if (job.context.signal.aborted) return undefined;
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
