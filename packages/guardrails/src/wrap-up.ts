import {
  annotate,
  notice,
  type JSONObject,
  type ModelRequest,
  type NewEvent,
  type TurnEventOf,
  type UserMessage,
} from '@h/turn';
import { describeLimit, type LimitState } from './limits.js';
import type { WrapUpOptions } from './options.js';
import { NearLimits, type Reserves } from './step-plan.js';
import { ownName, type TurnAccounts } from './turn-accounts.js';

type Request = TurnEventOf<'model.request'>;

/** The last step that a limit allows. */
interface LastStep {
  readonly step: number;
  readonly limit: LimitState;
  /**
   * Whether the step cuts the turn short: part of the limit was used before, and the step does more than finish an
   * answer.
   */
  readonly isForced: boolean;
}

/**
 * Warns the model once when a limit comes near, and lets the last step run without tools so that it sums up the work.
 *
 * What it did is annotated on the request, so that a resumed turn continues with it.
 */
export class WrapUp {
  readonly #texts: Required<WrapUpOptions> | undefined;
  readonly #accounts: TurnAccounts;
  readonly #near: NearLimits;
  #last: LastStep | undefined;
  /** The step in which the model was warned. */
  #warnedIn: number | undefined;
  /** The first limit that was reported as near. */
  #nearest: LimitState | undefined;

  constructor(texts: Required<WrapUpOptions> | undefined, accounts: TurnAccounts, reserves: Reserves) {
    this.#texts = texts;
    this.#accounts = accounts;
    this.#near = new NearLimits(reserves);
  }

  /** Records what a request that has left told the model. */
  requested(request: Request): void {
    const note = request.annotations?.[ownName] as
      | { readonly told?: boolean; readonly last?: Omit<LastStep, 'step'> }
      | undefined;
    if (note?.told === true) this.#warnedIn = request.step;
    this.#last = note?.last && { step: request.step, ...note.last };
  }

  /** The limit that makes this the last step, if it is one. */
  lastLimit(step: number): LimitState | undefined {
    return this.#last?.step === step ? this.#last.limit : undefined;
  }

  /** Whether this step cuts the turn short. */
  isForced(step: number): boolean {
    return this.#last?.step === step && this.#last.isForced;
  }

  /** The limit whose last step has been made, so that this step must not begin. */
  usedUpBefore(step: number): LimitState | undefined {
    return this.#last && this.#last.step < step && this.#last.limit.used > 0 ? this.#last.limit : undefined;
  }

  /** Records that a limit was reported as near. */
  reported(limit: LimitState): void {
    this.#nearest ??= limit;
    this.#near.reported(limit);
  }

  /** A notice for each limit that has just come near. */
  nearNotices(now: number): readonly NewEvent[] {
    const found = this.#near.find(this.#accounts.all, now);
    if (found.length === 0) return none;
    for (const limit of found) this.reported(limit);
    return found.map((state) => notice('budget.near', { ...state, left: state.max - state.used }));
  }

  /** Makes this the last step: the model may not call tools and is asked to sum up. */
  lastStep(request: Request, limit: LimitState, isContinuation: boolean): readonly [NewEvent, Request] {
    const { step } = request;
    const isForced = limit.used > 0 && !isContinuation;
    const bare = annotated(withoutTools(request), { last: { limit: { ...limit }, isForced } });
    // A truncated answer continues as it was; a request to sum up would lead away from it.
    const sent = isContinuation
      ? bare
      : withTail(bare, 'budget-last', `${describeLimit(limit)} ${this.#texts?.lastText ?? ''}`);
    return [notice('budget.wrap-up', { ...limit, step }), sent];
  }

  /** Warns the model of the limit that came near first. A retried step carries the warning again. */
  warned(request: Request, isContinuation: boolean): Request {
    const mayWarn = this.#warnedIn === undefined || this.#warnedIn === request.step;
    if (!this.#texts || !this.#nearest || !mayWarn || isContinuation || !offersTools(request)) return request;
    const limit = this.#accounts.current(this.#nearest, request.at);
    return withTail(
      annotated(request, { told: true }),
      'budget-near',
      `${describeLimit(limit)} ${this.#texts.nearText}`,
    );
  }
}

const none: readonly NewEvent[] = [];

/** The request with more members in the operator's annotation. */
export const annotated = (request: Request, note: JSONObject): Request =>
  annotate(request, ownName, { ...(request.annotations?.[ownName] as JSONObject | undefined), ...note });

/** Whether the model may call tools. */
export const offersTools = ({ tools, settings }: ModelRequest): boolean =>
  tools.length > 0 && settings.toolChoice !== 'none';

/** Adds a message to this request that the history does not keep. */
const withTail = (request: Request, kind: string, text: string): Request => {
  const message: UserMessage = { role: 'user', content: text, metadata: { internal: true, kind } };
  return { ...request, tail: [...request.tail, message] };
};

/**
 * The request with tools that the model may not call. They stay in the request, because providers want to know the
 * tools of the calls in the history, and a changed list invalidates the whole cache. A call that comes anyway is
 * denied.
 */
const withoutTools = (request: Request): Request => ({
  ...request,
  settings: { ...request.settings, toolChoice: 'none' as const },
});
