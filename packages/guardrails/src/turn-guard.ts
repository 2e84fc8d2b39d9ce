import {
  annotate,
  deny,
  type JSONObject,
  notice,
  type Decision,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
} from '@h/turn';
import { type CostForecast, ModelCall } from './model-call.js';
import { cutOff, cutTooOften, exceeded, overrunBy, summedUp, unpriced } from './ending.js';
import './events.js';
import { describeLimit, type LimitState } from './limits.js';
import { clamped, commonMaximum, planStep, type StepPlan } from './step-plan.js';
import type { GuardrailsSettings } from './options.js';
import { TruncationRecovery } from './truncation-recovery.js';
import { ownName } from './turn-accounts.js';
import { TurnLedger } from './turn-ledger.js';
import { annotated, offersTools, WrapUp } from './wrap-up.js';

type Request = TurnEventOf<'model.request'>;

/** Decides about the events of one turn by its remaining limits. */
export class TurnGuard {
  readonly ledger: TurnLedger;
  readonly recovery: TruncationRecovery;
  readonly #settings: GuardrailsSettings;
  readonly #wrapUp: WrapUp;
  #isEnding = false;

  constructor(settings: GuardrailsSettings) {
    this.#settings = settings;
    this.ledger = new TurnLedger(settings);
    this.recovery = new TruncationRecovery(settings.maxTokensRecoveries);
    this.#wrapUp = new WrapUp(settings.wrapUp, this.ledger.accounts, settings);
  }

  requested(request: Request): void {
    this.ledger.requested(request);
    this.#wrapUp.requested(request);
  }

  answered(event: TurnEventOf<'model.response'>): void {
    this.ledger.answered(event, this.#wrapUp.isForced(event.step));
    this.recovery.answered(event);
  }

  reportedNear(limit: LimitState): void {
    this.#wrapUp.reported(limit);
  }

  stopped(event: TurnEventOf<'turn.stop'>): void {
    this.#isEnding = true;
    this.ledger.stopped(event);
  }

  /** Refuses a turn without anything left, before any of it is stored. */
  admit({ at, input }: TurnEventOf<'turn.start'>): Decision {
    this.ledger.expectInput(input);
    return this.#refusal(at);
  }

  /** Ends a turn that receives more input than allowed. */
  hear(event: TurnEventOf<'input.received'>): Decision {
    this.ledger.expectInput([event.message], event.id);
    const limit = this.ledger.accounts.refuses(event.at);
    return limit?.limit === 'maxInputChars' ? [event, ...this.#end(exceeded(limit))] : undefined;
  }

  /** Decides about a request; `'wait'` while other turns have reserved what it needs. */
  ask(request: Request): readonly NewEvent[] | 'wait' {
    const { at: now, step } = request;
    const missing = this.ledger.expectStep(step);
    const ending = this.#refusal(now) ?? this.#exhaustion(step, now);
    if (ending) return ending;
    const { accounts } = this.ledger;
    const inputTokens = this.ledger.sizeOf(request);
    const cost = this.ledger.costOf(request, inputTokens);
    const { wrapUp } = this.#settings;
    const wrapsUp = wrapUp !== undefined && offersTools(request);
    const plan = planStep(accounts.all, {
      now,
      inputTokens,
      cost,
      closingTokens: wrapUp?.tokens ?? 0,
      wrapsUp,
    });
    if (plan.refusedBy) return plan.mayWait === true ? 'wait' : this.#end(exceeded(plan.refusedBy));
    const fitting = clamped(request, plan.outputTokens);
    if (accounts.isMetered) {
      const call = this.#begin(fitting, inputTokens, plan, cost);
      if (call === undefined) return 'wait';
      this.ledger.expectCall(call);
    }
    this.recovery.began();
    const near = this.#wrapUp.nearNotices(now);
    const { isContinuing } = this.recovery;
    const leaving = plan.last
      ? this.#wrapUp.lastStep(fitting, plan.last, isContinuing)
      : [this.#wrapUp.warned(fitting, isContinuing)];
    const events: NewEvent[] = [...near, ...leaving.slice(0, -1)];
    const sent = leaving.at(-1) as Request;
    const kept = accounts.kept(now, () => ({ ...this.ledger.call?.estimate, steps: missing + 1 }));
    if (kept) events.push(kept);
    events.push(this.#noted(sent));
    return events;
  }

  /** Counts a delta; ends the turn if it exceeds a limit. */
  delta(event: TurnEventOf<'model.delta'>): Decision {
    if (this.#isEnding) return undefined;
    const { ledger } = this;
    if (!ledger.accounts.isWatched) return this.#withoutRepeat(event);
    const { text } = event.delta;
    const late = ledger.accounts.late(event.at);
    const hasRoom = ledger.call?.take(text) !== false;
    const limit = late ?? (hasRoom ? undefined : overrunBy(ledger.accounts, ledger.call?.estimate ?? {}, event.at));
    if (limit) return [event, ...this.#end(exceeded(limit))];
    return this.#withoutRepeat(event);
  }

  #withoutRepeat(event: TurnEventOf<'model.delta'>): Decision {
    if (!this.recovery.isFiltering) return undefined;
    const passed = this.recovery.delta(event);
    return passed === event ? undefined : (passed ?? null);
  }

  /** Trims an answer. If it exceeded a limit, the tool calls in it do not run. */
  respond(given: TurnEventOf<'model.response'>): Decision {
    const { at: now } = given;
    const event = this.recovery.trimmed(given);
    const heldBack = this.recovery.rest();
    const events: NewEvent[] = heldBack === '' ? [] : [pieceOf(event, heldBack)];
    events.push(event);
    const model = this.ledger.expectAnswer(event, this.#wrapUp.isForced(event.step));
    if (model) events.push(notice('budget.cost-unknown', model));
    const overrun = this.ledger.accounts.overrun(now);
    const hasCalls = overrun !== undefined && event.content.some(({ type }) => type === 'tool-call');
    events.push(...(hasCalls ? this.#end(exceeded(overrun)) : this.#wrapUp.nearNotices(now)));
    return events.length === 1 && event === given ? undefined : events;
  }

  /** Denies a call in a step without tools or beyond the limit on calls. */
  call(event: TurnEventOf<'tool.call'>): Decision {
    if (event.denied) return undefined;
    const last = this.#wrapUp.lastLimit(event.step);
    if (last) return deny(event, `${describeLimit(last)} No tools run in the last step.`, ownName);
    for (const account of this.ledger.accounts.all) {
      if (account.limits('maxToolCalls') && account.left('maxToolCalls', event.at) < 1) {
        return deny(event, describeLimit(account.state('maxToolCalls', event.at)), ownName);
      }
    }
    this.ledger.expectToolCall(event);
    return undefined;
  }

  /** Annotates a failed call with its estimated use, if the provider does not report it. */
  fail(event: TurnEventOf<'model.error'>): Decision {
    const used = this.ledger.useOf(event);
    return used && annotate(event, ownName, used as JSONObject);
  }

  /**
   * Replaces a stop by a step that continues a truncated answer, or by a stop with the limit that cut the turn short.
   */
  stop(event: TurnEventOf<'turn.stop'>): Decision {
    const { at: now, afterStep: step } = event;
    if (this.#isEnding) return undefined;
    const isDone = event.outcome === 'completed' && step !== undefined;
    const continues = isDone && this.recovery.continues(step);
    if (continues && this.#mayContinue(step, now)) {
      const { maxTokensRecoveries: maxRecoveries } = this.#settings;
      const recovery = this.recovery.count + 1;
      return [this.recovery.proceed(), notice('truncation.recovered', { step, recovery, maxRecoveries })];
    }
    const why = continues ? 'no-allowance' : this.recovery.givenUp(step);
    const events = isDone && why ? [notice('truncation.given-up', { step, why })] : [];
    const last = isDone && this.#wrapUp.isForced(step) ? this.#wrapUp.lastLimit(step) : undefined;
    if (last) return [...events, ...summedUp(this.ledger.accounts.current(last, now), event)];
    return events.length === 0 ? undefined : [...events, event];
  }

  /**
   * The events that end a turn at any time, when its budget was cut off or its time is up; else the limits that came
   * near.
   */
  interrupt(now: number): readonly NewEvent[] {
    if (this.#isEnding) return [];
    const reason = this.ledger.accounts.budget?.cutOffReason;
    if (reason !== undefined) return this.#end(cutOff(reason));
    const late = this.ledger.accounts.late(now);
    return late ? this.#end(exceeded(late)) : this.#wrapUp.nearNotices(now);
  }

  /** Stores in the session what the turn has used. */
  finish(event: TurnEventOf<'turn.end'>): Decision {
    const kept = this.ledger.accounts.kept(event.at, () => this.ledger.unansweredUse);
    return kept && [kept, event];
  }

  /** Releases everything when the turn has ended or lost its subscriber. */
  close(now: number): void {
    this.ledger.ended();
    this.ledger.accounts.close(now);
  }

  /** Reserves in a shared budget what the call may need; `undefined` if other turns have reserved it. */
  #begin(request: Request, inputTokens: number, plan: StepPlan, cost: CostForecast | undefined): ModelCall | undefined {
    const { accounts } = this.ledger;
    const { at: now } = request;
    const reservedTokens = Math.min(
      Math.max(1, Math.floor(plan.mostOutputTokens)),
      request.settings.maxOutputTokens ?? commonMaximum,
    );
    const price = cost && { cost: cost.input + cost.perOutputToken * reservedTokens };
    const reservation = accounts.budget?.reserve(
      { steps: 1, inputTokens, outputTokens: reservedTokens, ...price },
      now,
    );
    if (accounts.budget && !reservation) return undefined;
    const outputChars = Math.min(
      ...accounts.all.map((account) =>
        account.limits('maxOutputChars') ? account.left('maxOutputChars', now) : Infinity,
      ),
    );
    return new ModelCall({
      inputTokens,
      outputTokens: plan.mostOutputTokens,
      outputChars,
      cost,
      reservation,
      reservedTokens,
      estimateTokens: this.#settings.estimateTokens,
      maxTokensPerChar: this.#settings.maxTokensPerChar,
    });
  }

  /**
   * Annotates the estimate, and the clock under a limit on duration, so that a resumed turn omits the time without a
   * process.
   */
  #noted(request: Request): Request {
    const { accounts } = this.ledger;
    const hasClock = accounts.has('maxDurationMs');
    if (!hasClock && !accounts.isMetered) return request;
    return annotated(request, {
      ...(accounts.isMetered && { estimate: this.ledger.rawEstimate }),
      ...(hasClock && { elapsedMs: accounts.elapsedMs(request.at) }),
    });
  }

  /** The end of a turn that may not begin any step. */
  #refusal(now: number): readonly NewEvent[] | undefined {
    const { accounts } = this.ledger;
    const reason = accounts.budget?.cutOffReason;
    if (reason !== undefined) return this.#end(cutOff(reason));
    const limit = accounts.refuses(now);
    return limit && this.#end(exceeded(limit));
  }

  /** The end of a turn after its last step. */
  #exhaustion(step: number, now: number): readonly NewEvent[] | undefined {
    const { accounts } = this.ledger;
    const usedUp = this.#wrapUp.usedUpBefore(step);
    if (usedUp) return this.#end(exceeded(accounts.current(usedUp, now)));
    if (this.recovery.hasTooManyCutCalls) {
      return this.#end(cutTooOften(this.recovery.count, this.#settings.maxTokensRecoveries));
    }
    const ending = this.#settings.stopsOnUnknownCost ? unpriced(accounts, now) : undefined;
    return ending && this.#end(ending);
  }

  #mayContinue(step: number, now: number): boolean {
    const isLast = (this.#wrapUp.lastLimit(step)?.used ?? 0) > 0;
    return !isLast && this.ledger.accounts.refuses(now) === undefined;
  }

  /** Ends the turn. The stop carries what a call under way has used, in case the process dies before its answer. */
  #end(events: readonly NewEvent[]): readonly NewEvent[] {
    this.#isEnding = true;
    const used = this.ledger.call?.estimate;
    if (used === undefined) return events;
    return events.map((event) =>
      event.type === 'turn.stop' ? { ...event, annotations: { [ownName]: { ...used } } } : event,
    );
  }
}

const pieceOf = ({ turn, at, step, attempt }: TurnEventOf<'model.response'>, text: string): NewEvent => ({
  type: 'model.delta',
  turn,
  at,
  step,
  attempt,
  delta: { type: 'text', text },
});

/** Holds a request until other turns release what they have reserved. */
export const waitFor = (
  guard: TurnGuard,
  request: Request,
  operator: OperatorContext,
  done: (events: readonly NewEvent[]) => void,
): (() => void) => {
  const unwatch = guard.ledger.accounts.budget?.watch(() => {
    const events = guard.ask({ ...request, at: operator.now() });
    if (events === 'wait') return;
    unwatch?.();
    done(events);
  });
  return () => unwatch?.();
};
