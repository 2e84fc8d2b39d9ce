import {
  isPromise,
  notice,
  toErrorInfo,
  type ErrorInfo,
  type JSONObject,
  type JSONValue,
  type Message,
  type NewEvent,
  type ObserveHandlers,
  type OperatorContext,
  type TurnEvent,
} from '@h/turn';
import { CallContext, type TurnFacts } from './call-context.js';
import { answerAt, problemOf } from './check-answer.js';
import { hookPoints, hooksOfTurn } from './check-hook.js';
import type { Hook, HookContext, HookFailure, HookHandlers, HookPoint, HookSource } from './hook.js';
import { chain, type Maybe } from './maybe.js';

/** The details that a handler of this point receives besides the common context. */
export type DetailsOf<Point extends HookPoint> = Omit<
  Parameters<NonNullable<HookHandlers[Point]>>[0],
  keyof HookContext
>;

/** The answers of a handler of this point. */
export type AnswerOf<Point extends HookPoint> = Exclude<Awaited<ReturnType<NonNullable<HookHandlers[Point]>>>, void>;

/** The answer of a handler, or the error of the call. */
export type Called<Point extends HookPoint> =
  | { readonly answer: AnswerOf<Point> | undefined }
  | { readonly error: ErrorInfo };

/** Time limits of handlers. */
export interface HookTimeouts {
  readonly gateTimeoutMs: number;
  readonly observerTimeoutMs: number;
}

const observerPoints: ReadonlySet<HookPoint> = new Set([
  'afterReply',
  'onError',
  'onCompaction',
  'onSteering',
  'onApproval',
  'onDecision',
]);

/** The shared result of handlers that return nothing. */
const silent = { answer: undefined };

/** The maximum number of failures of `onReplay` that are reported. */
const maxReplayFailures = 20;

/** Points whose gates fail open, unless the hook sets `failure`. */
const openPoints: ReadonlySet<HookPoint> = new Set(['afterTool', 'beforeEnd']);

/** The hooks of each point, and those with `onReplay`. */
export type HookTable = Readonly<Record<HookPoint | 'onReplay', readonly Hook[]>>;

/** Returns the table for the next turn: the previous one if the list is unchanged and creates no hook for each turn. */
export const hookTables = (sources: readonly HookSource[]): (() => HookTable) => {
  let listed: readonly HookSource[] = [];
  let table: HookTable | undefined;
  return () => {
    const isSame = sources.length === listed.length && sources.every((source, index) => source === listed[index]);
    if (table !== undefined && isSame && sources.every((source) => typeof source !== 'function')) return table;
    listed = [...sources];
    table = tableOf(hooksOfTurn(sources));
    return table;
  };
};

const tableOf = (hooks: readonly Hook[]): HookTable =>
  Object.fromEntries(
    [...hookPoints, 'onReplay' as const].map((point) => [point, hooks.filter((hook) => hook[point] !== undefined)]),
  ) as unknown as HookTable;

/** Why a hook has not judged the input of a turn. */
export const turnStopped: ErrorInfo = { name: 'AbortError', message: 'The turn was stopped.' };

/** The hooks of one turn, their context, and their calls in progress. */
export class TurnHooks {
  readonly #operator: OperatorContext;
  readonly #timeouts: HookTimeouts;
  readonly #table: HookTable;
  #running: Set<AbortController> | undefined;
  #observing: Set<Promise<void>> | undefined;
  #facts: TurnFacts = { turn: '', session: '', step: 0, trigger: 'user', metadata: undefined };
  #history: Iterable<Message> = [];
  #since: Message[] | undefined;
  #heldNotices: NewEvent[] | undefined;
  /** Decisions that are not in an annotation yet, by the id of their call; '' for decisions about the turn. */
  readonly #decisions = new Map<string, JSONObject[]>();
  #abandonInput: (() => void) | undefined;
  #isStopped = false;
  #isLive = false;
  #hasEnded = false;
  #early: NewEvent[] | undefined;

  constructor(operator: OperatorContext, table: HookTable, timeouts: HookTimeouts) {
    this.#operator = operator;
    this.#timeouts = timeouts;
    this.#table = table;
  }

  get session(): string {
    return this.#facts.session;
  }

  get turn(): string {
    return this.#facts.turn;
  }

  /** Whether the turn has stopped. No hook judges its input then. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  at(point: HookPoint): readonly Hook[] {
    return this.#table[point];
  }

  /** Returns the history as observed so far. */
  messages(): Iterable<Message> {
    const [history, since] = [this.#history, [...(this.#since ?? [])]];
    return {
      *[Symbol.iterator]() {
        yield* history;
        yield* since;
      },
    };
  }

  /** Observes the properties of the turn, and the history if a handler can read it. */
  get observe(): ObserveHandlers {
    const keepsHistory = (['beforeEnd', 'afterReply'] as const).some((point) => this.at(point).length > 0);
    return {
      'turn.start': ({ turn, session, trigger, metadata }) => {
        this.#facts = { ...this.#facts, turn, session, trigger, metadata };
      },
      // The turn does not end before its input has left; other events that gates hold do not delay it.
      'turn.stop': () => {
        this.#isStopped = true;
        this.#abandonInput?.();
      },
      'session.loaded': ({ turn, session, messages }) => {
        this.#facts = { ...this.#facts, turn, session };
        this.#remember(messages);
      },
      'model.request': ({ step, messages }) => {
        if (step !== this.#facts.step) this.#facts = { ...this.#facts, step };
        if (keepsHistory) this.#remember(messages);
      },
      ...(keepsHistory && {
        'history.append': ({ messages }) => void (this.#since ??= []).push(...messages),
        'history.replace': ({ messages }) => this.#remember(messages),
      }),
    };
  }

  /** Passes the recorded events of a resumed turn to `onReplay`: all events before `start()`. */
  get replay(): ObserveHandlers {
    if (this.#table.onReplay.length === 0) return {};
    return { '*': (event) => (this.#isLive ? undefined : this.#replay(event)) };
  }

  /** Marks the turn as live, so that `watch()` calls observers, and emits the failures of `onReplay`. */
  start(): void {
    this.#isLive = true;
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const event of early) this.#operator.emit(event);
  }

  #replay(event: TurnEvent): void {
    for (const hook of this.#table.onReplay) {
      try {
        hook.onReplay?.(event);
      } catch (error) {
        const early = (this.#early ??= []);
        if (early.length >= maxReplayFailures) return;
        early.push(
          notice('hook.failed', { hook: hook.name, point: 'onReplay', error: toErrorInfo(error), effect: 'ignored' }),
        );
      }
    }
  }

  #remember(history: Iterable<Message>): void {
    this.#history = history;
    this.#since = undefined;
  }

  /** Emits a notice. During a synchronous decision, the notice precedes the event. */
  tell(event: NewEvent): void {
    if (this.#heldNotices) this.#heldNotices.push(event);
    else this.#operator.emit(event);
  }

  /** Records a decision for observers and the journal, and emits its notice if there is one. */
  decided(at: number, decision: DetailsOf<'onDecision'>, event?: NewEvent): void {
    if (event) this.tell(event);
    if (this.at('onDecision').length > 0) {
      const subject = decision.callId ?? '';
      const { callId, hook, kind, reason } = decision;
      const entry: JSONObject = {
        at,
        step: this.#facts.step,
        kind,
        ...(hook !== undefined && { hook }),
        ...(reason !== undefined && { reason }),
        ...(callId !== undefined && { callId }),
      };
      this.#decisions.set(subject, [...(this.#decisions.get(subject) ?? []), entry]);
    }
    this.watch('onDecision', at, decision);
  }

  /**
   * Decides on an event. Notices of a synchronous decision precede the event.
   *
   * An asynchronous decision emits its notices immediately, while the event is held.
   */
  deciding(
    event: NewEvent,
    decide: () => Maybe<NewEvent | readonly NewEvent[] | undefined>,
  ): Maybe<NewEvent | readonly NewEvent[] | undefined> {
    // A request starts its step, but the operator observes the request only after it has left the pipeline.
    if (event.type === 'model.request') this.#facts = { ...this.#facts, step: event.step };
    const notices: NewEvent[] = [];
    this.#heldNotices = notices;
    let decision: Maybe<NewEvent | readonly NewEvent[] | undefined>;
    try {
      decision = chain(decide(), (ruling) => this.#withDecisions(event, ruling));
    } finally {
      this.#heldNotices = undefined;
    }
    if (notices.length === 0) return decision;
    if (decision instanceof Promise) {
      for (const next of notices) this.#operator.emit(next);
      return decision;
    }
    return [...notices, ...(decision === undefined ? [event] : [decision].flat())];
  }

  /** Adds the decisions to the annotations of the event, so that the journal of a resumed turn contains them. */
  #withDecisions(
    event: NewEvent,
    ruling: NewEvent | readonly NewEvent[] | undefined,
  ): NewEvent | readonly NewEvent[] | undefined {
    const subject = event.type === 'tool.call' ? event.call.id : '';
    const decisions = this.#decisions.get(subject);
    if (decisions === undefined || this.#hasEnded) return ruling;
    const events: readonly NewEvent[] = ruling === undefined ? [event] : [ruling].flat();
    const last = events.at(-1);
    if (last === undefined) return ruling;
    this.#decisions.delete(subject);
    const note = last.annotations?.['hooks'] as JSONObject | undefined;
    const noted: NewEvent = { ...last, annotations: { ...last.annotations, hooks: { ...note, decisions } } };
    return [...events.slice(0, -1), noted];
  }

  /** Calls one handler. It never throws: it emits `hook.failed` and returns the error. */
  call<Point extends HookPoint>(hook: Hook, point: Point, at: number, details: DetailsOf<Point>): Maybe<Called<Point>> {
    const context = new CallContext(this.#facts, at, details, (message, more) =>
      this.#notify(hook, point, message, more),
    );
    let answer: unknown;
    try {
      answer = (hook[point] as (context: HookContext) => unknown).call(hook, context);
    } catch (error) {
      return this.#failed(hook, point, toErrorInfo(error));
    }
    if (answer === undefined) return silent;
    return isPromise(answer) ? this.#wait(hook, point, answer, context) : this.#checked(hook, point, answer);
  }

  /**
   * Calls all observers of a point if the turn is live. They run concurrently, and only the end of the turn waits for
   * them.
   */
  watch<Point extends HookPoint>(point: Point, at: number, details: DetailsOf<Point>): void {
    if (!this.#isLive) return;
    for (const hook of this.at(point)) {
      const called = this.call(hook, point, at, details);
      if (!(called instanceof Promise)) continue;
      const settled: Promise<void> = called.then(() => void this.#observing?.delete(settled));
      (this.#observing ??= new Set()).add(settled);
    }
  }

  /** Waits for the observers in progress, and for the observers that those start. */
  settled(): Maybe<void> {
    if (this.#observing === undefined || this.#observing.size === 0) return undefined;
    return Promise.all(this.#observing).then(() => this.settled());
  }

  /** Returns whether a failure of this hook at this point denies: its `failure`, or the default of the point. */
  isClosed(hook: Hook, point: HookPoint): boolean {
    const { failure } = hook;
    const own: HookFailure | undefined = typeof failure === 'object' ? failure[point] : failure;
    return (own ?? (openPoints.has(point) ? 'open' : 'closed')) === 'closed';
  }

  /** Marks the turn as ended and aborts the calls in progress. */
  close(): void {
    this.#hasEnded = true;
    for (const abort of this.#running ?? []) abort.abort();
    this.#running?.clear();
  }

  #notify(hook: Hook, point: HookPoint, message: string, details: JSONValue | undefined): void {
    this.tell(notice('hook.notice', { hook: hook.name, point, message, ...(details !== undefined && { details }) }));
  }

  #wait<Point extends HookPoint>(
    hook: Hook,
    point: Point,
    answer: PromiseLike<unknown>,
    context: CallContext,
  ): Promise<Called<Point>> {
    const own = context.controller();
    const running = (this.#running ??= new Set<AbortController>());
    running.add(own);
    if (this.#hasEnded) own.abort();
    return new Promise((resolve) => {
      const ownMs = this.#limit(hook, point);
      // Observers may exceed the deadline, because observers of the end of a turn start after it.
      const leftMs = observerPoints.has(point) ? Infinity : this.#operator.timeLeft();
      const limitMs = Math.min(ownMs, leftMs);
      const settle = (called: Called<Point>): void => {
        cancel();
        running.delete(own);
        if (point === 'beforeTurn') this.#abandonInput = undefined;
        resolve(called);
      };
      if (point === 'beforeTurn') {
        this.#abandonInput = () => {
          settle({ error: turnStopped });
          own.abort();
        };
      }
      const onTimeout = (): void => {
        const error = {
          name: 'TimeoutError',
          code: 'hook-timeout',
          message: `The hook ${hook.name} took longer than ${limitMs} ms${leftMs < ownMs ? ', the rest of the time of the turn' : ''}.`,
        };
        settle(this.#failed(hook, point, error));
        own.abort(new DOMException(error.message, 'TimeoutError'));
      };
      const cancel = this.#operator.after(limitMs, onTimeout);
      answer.then(
        (value) => (running.has(own) ? settle(this.#checked(hook, point, value)) : undefined),
        (error: unknown) => (running.has(own) ? settle(this.#failed(hook, point, toErrorInfo(error))) : undefined),
      );
    });
  }

  #limit(hook: Hook, point: HookPoint): number {
    const own = typeof hook.timeoutMs === 'object' ? hook.timeoutMs[point] : hook.timeoutMs;
    return own ?? (observerPoints.has(point) ? this.#timeouts.observerTimeoutMs : this.#timeouts.gateTimeoutMs);
  }

  #checked<Point extends HookPoint>(hook: Hook, point: Point, answer: unknown): Called<Point> {
    try {
      const read = answerAt(point, answer) ?? undefined;
      const problem = problemOf(point, read);
      if (problem === undefined) return { answer: read as AnswerOf<Point> | undefined };
      return this.#failed(hook, point, { name: 'TypeError', code: 'hook-answer', message: problem });
    } catch (error) {
      return this.#failed(hook, point, toErrorInfo(error));
    }
  }

  #failed(hook: Hook, point: HookPoint, error: ErrorInfo): { readonly error: ErrorInfo } {
    const effect = !observerPoints.has(point) && this.isClosed(hook, point) ? 'denied' : 'ignored';
    if (!this.#hasEnded) this.tell(notice('hook.failed', { hook: hook.name, point, error, effect }));
    return { error };
  }
}
