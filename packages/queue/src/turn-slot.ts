import { AsyncResource } from 'node:async_hooks';
import {
  notice,
  stop,
  toErrorInfo,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
  type TurnOutcome,
} from '@h/turn';
import { Observable } from 'rxjs';
import type { LaneListener, LaneHandle, Lanes, LaneLease, WaitingNotice } from './contract.js';
import { showValue } from '@h/options';
import { droppedMessage } from './dropped.js';
import { LaneError, LaneTimeoutError } from './errors.js';
import { textOf } from './message-text.js';
import { priorityOf } from './priority.js';
import type { QueueOptions } from './queue-options.js';

/** Time for the lanes to refuse a request at its `maxWaitMs`: their clock may be another one. */
const answerGraceMs = 1_000;

/** The decision about a held event once the turn is admitted or refused. */
export type Answer = NewEvent | readonly NewEvent[];

/** The slot of one turn: requested once, released once. A class, because each turn creates one. */
export class TurnSlot implements LaneListener {
  readonly #lanes: Pick<Lanes, 'enter'>;
  readonly #options: QueueOptions;
  readonly #context: OperatorContext;
  #turn = '';
  #request: LaneHandle | undefined;
  #lease: LaneLease | undefined;
  #refusal: NewEvent | undefined;
  #hasLost = false;
  /** The time of the last event that counted as progress. */
  #progressAt: number | undefined;
  /** Whether the turn began in another process; its events then do not run in the async context of its lease. */
  #isResumed = false;
  #isReleased = false;
  /** Cancels the time limit of a turn that waits. */
  #stopWaiting: (() => void) | undefined;
  readonly #held: (() => void)[] = [];
  /** The start of a turn whose journal was replayed. */
  #replayed: TurnEventOf<'turn.start'> | undefined;
  /** Approvals that are requested and not answered yet. */
  readonly #approvals = new Set<string>();

  constructor(lanes: Pick<Lanes, 'enter'>, options: QueueOptions, context: OperatorContext) {
    this.#lanes = lanes;
    this.#options = options;
    this.#context = context;
  }

  /** Stores the start of the turn. If nothing has decided about it, the turn is being resumed. */
  started(start: TurnEventOf<'turn.start'>): void {
    if (!this.#request) this.#replayed = start;
  }

  /** The turn is live. If it was resumed, requests a slot ahead of waiting requests: its session is open already. */
  resume(): void {
    if (this.#replayed) this.enter(this.#replayed, true);
  }

  /** Requests a slot, and holds the start of the turn until it is admitted. */
  begin(start: TurnEventOf<'turn.start'>): Observable<Answer | undefined> {
    const since = this.#context.now();
    this.enter(start, false);
    const isWaiting = !this.#lease && !this.#refusal;
    return this.hold((lease) => this.#beginning(start, lease, isWaiting ? this.#context.now() - since : undefined));
  }

  /** Requests a slot; `ahead` of waiting requests for a turn whose session is open already. */
  enter(start: TurnEventOf<'turn.start'>, ahead: boolean): void {
    const { laneOf, groupsOf, idleTimeoutMs, deadlineMs, graceMs, maxWaitMs } = this.#options;
    this.#turn = start.turn;
    this.#isResumed = ahead;
    const session = laneOf?.(start) ?? start.session;
    const handle: unknown = this.#lanes.enter(
      {
        session,
        priority: this.#options.priorityOf?.(start) ?? start.priority ?? priorityOf(start.trigger),
        trigger: start.trigger,
        groups: groupsOf?.(start),
        label: start.turn,
        summary: start.input.map(textOf).join('\n'),
        idleTimeoutMs,
        deadlineMs,
        graceMs,
        maxWaitMs,
        ahead,
      },
      this,
    );
    this.#request = this.#handle(handle);
    // The turn may have ended during the notification of its position.
    if (this.#isReleased) this.#release(this.#request);
    else if (maxWaitMs !== undefined && !this.#lease && !this.#refusal) this.#limitWait(session, maxWaitMs);
  }

  /**
   * Holds an event until the turn is admitted, refused or has its slot again. Continues in the async context of its
   * lease.
   */
  hold(then: (lease: LaneLease) => Answer | undefined): Observable<Answer | undefined> {
    return new Observable((subscriber) => {
      const resume = (): void => {
        const lease = this.#lease;
        if (lease) this.#watch(lease.within(() => subscriber.next(then(lease))));
        else subscriber.next(this.#refusal);
        subscriber.complete();
      };
      if (this.#refusal || (this.#lease && this.#isBack(this.#lease))) {
        resume();
        return;
      }
      // The caller that releases the slot may belong to another turn, so the context of this one is captured here.
      const scope = new AsyncResource('QueuedTurn');
      this.#held.push(() => scope.runInAsyncScope(resume));
    });
  }

  /** Passes an event in the async context of the lease, once the turn has a slot. */
  asPart(event: { readonly type: string }): Observable<Answer | undefined> | Answer | undefined {
    const lease = this.#lease;
    if (lease?.isInContext === true && this.#isBack(lease)) return this.fence(event);
    return this.#request ? this.hold(() => this.fence(event)) : undefined;
  }

  /** Passes an event that follows from a held one: at once if the turn has a slot. */
  whenAtWork(event: { readonly type: string }): Observable<Answer | undefined> | Answer | undefined {
    const isAtWork = !this.#isResumed && this.#lease !== undefined && this.#isBack(this.#lease);
    return isAtWork ? this.fence(event) : this.asPart(event);
  }

  /** Replaces an event of a turn whose slot was revoked by a stop. */
  fence(event: { readonly type: string }): Answer | undefined {
    if (!this.#hasLost || !this.#lease) return undefined;
    const { session, fence } = this.#lease;
    return [notice('queue.fenced', { session, fence, event: event.type }), lostStop(session)];
  }

  /** Passes an event that must not be replaced, once the turn has a slot. */
  whenBack(): Observable<Answer | undefined> | undefined {
    return this.#lease ? this.hold(() => undefined) : undefined;
  }

  /** Reads the clock of the lanes at most once in a millisecond: an answer has many deltas. */
  progress(at: number): void {
    if (at === this.#progressAt) return;
    this.#progressAt = at;
    this.#watch(this.#lease?.progress());
  }

  /** Lends the slot while the turn waits for a person. */
  asked(approval: string): void {
    this.#approvals.add(approval);
    this.#lendWhileAsking();
  }

  /** Passes an answer once the turn has a slot. */
  answering(approval: string): Observable<Answer | undefined> | undefined {
    this.#approvals.delete(approval);
    return this.whenBack();
  }

  /** Lends the slot again if other approvals are pending after an answer has passed. */
  answered(approval: string, at: number): void {
    this.#approvals.delete(approval);
    this.progress(at);
    this.#lendWhileAsking();
  }

  /** Called when a step begins: the approvals of the previous step are settled. */
  nextStep(): void {
    this.#approvals.clear();
  }

  isAtWork(): boolean {
    return this.#approvals.size > 0 || this.#options.isAtWork?.(this.#turn) === true;
  }

  ending(): void {
    this.#watch(this.#lease?.ending());
  }

  /** Called when the turn stops: withdraws a request that was not admitted. */
  stopping(): void {
    if (!this.#lease) this.release();
  }

  release(): void {
    this.#isReleased = true;
    this.#stopWaiting?.();
    this.#release(this.#request);
    this.#release(this.#lease);
  }

  admitted(lease: LaneLease): void {
    this.#lease = lease;
    this.#stopWaiting?.();
    // Another process may have sent the answer before the turn ended.
    if (this.#isReleased) this.#release(lease);
    else this.#back();
  }

  refused(error: LaneError): void {
    this.#stopWaiting?.();
    this.#refusal = stop(refusals[error.code] ?? 'blocked', error.message, toErrorInfo(error));
    this.#continueHeld();
  }

  waiting(position: WaitingNotice): void {
    this.#context.emit(notice('queue.waiting', position));
  }

  aborted(error: LaneError): void {
    const outcome = error instanceof LaneTimeoutError ? 'timed-out' : 'cancelled';
    this.#context.emit(stop(outcome, error.message, toErrorInfo(error)));
    this.#continueHeld();
  }

  lost(): void {
    this.#hasLost = true;
  }

  returned(): void {
    this.#back();
  }

  #back(): void {
    this.#continueHeld();
    this.#lendWhileAsking();
  }

  #lendWhileAsking(): void {
    if (this.#approvals.size > 0) this.#watch(this.#lease?.pause?.());
  }

  /** Never throws: the request and the lease must both be released. */
  #release(handle: LaneHandle | undefined): void {
    try {
      this.#watch(handle?.release());
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Whether the turn has its slot, now or again. */
  #isBack(lease: LaneLease): boolean {
    const isBack: unknown = lease.resume?.();
    this.#watch(isBack);
    return isBack !== false;
  }

  /** @throws TypeError if the lanes returned no handle, for which nothing could be released */
  #handle(given: unknown): LaneHandle {
    const handle = given as Partial<LaneHandle> | null | undefined;
    if (typeof handle === 'object' && typeof handle?.release === 'function') return handle as LaneHandle;
    this.#watch(given);
    throw new TypeError(`enter() of the lanes returned ${showValue(given)}; return a handle with release().`);
  }

  /** Refuses the turn if the lanes have not answered some time after their own limit. */
  #limitWait(session: string, maxWaitMs: number): void {
    this.#stopWaiting = this.#context.after(maxWaitMs + answerGraceMs, () => {
      const text = `The lanes neither admitted nor refused session ${JSON.stringify(session)} within ${maxWaitMs} ms (maxWaitMs).`;
      this.release();
      this.refused(new LaneError('lane-waited-too-long', session, text));
    });
  }

  /** Fails the turn if a method of the lanes that must be synchronous returned a promise that rejects. */
  #watch(result: unknown): void {
    if (typeof result !== 'object' || result === null) return;
    Promise.resolve(result).catch((error: unknown) => this.#fail(error));
  }

  /** Has no effect on a turn that has ended. */
  #fail(error: unknown): void {
    const info = toErrorInfo(error);
    this.#context.emit(stop('error', `The lanes failed: ${info.message}`, info));
  }

  #beginning(
    start: TurnEventOf<'turn.start'>,
    { fence, dropped }: LaneLease,
    waitedMs: number | undefined,
  ): readonly NewEvent[] | NewEvent {
    const { session } = start;
    if (waitedMs === undefined && !dropped) return start;
    return [
      ...(waitedMs === undefined ? [] : [notice('queue.admitted', { session, waitedMs, fence })]),
      ...(dropped ? [notice('queue.dropped', { session, count: dropped.count })] : []),
      dropped ? { ...start, input: [droppedMessage(dropped), ...start.input] } : start,
    ];
  }

  #continueHeld(): void {
    for (const resume of this.#held.splice(0)) resume();
  }
}

/** Returns the outcome of a refused turn. */
const refusals: Readonly<Partial<Record<LaneError['code'], TurnOutcome>>> = {
  'lane-waited-too-long': 'timed-out',
  'lane-aborted': 'cancelled',
  'lane-cleared': 'cancelled',
  'lane-closed': 'cancelled',
  'lane-failed': 'error',
};

const lostStop = (session: string): NewEvent =>
  stop(
    'timed-out',
    `The slot of session ${JSON.stringify(session)} was given to another turn. This turn writes no more results.`,
  );
