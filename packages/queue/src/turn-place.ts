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
import { droppedMessage } from './dropped.js';
import { LaneTimeoutError, type LaneError } from './errors.js';
import { textOf } from './message-text.js';
import { priorityOf } from './priority.js';
import type { QueueOptions } from './queue-options.js';

/** What becomes of an event once it is known whether the turn has a place. */
export type Answer = NewEvent | readonly NewEvent[];

/** The place of one turn: asked for once, given back once. A class, because each turn makes one. */
export class TurnPlace implements LaneListener {
  readonly #lanes: Pick<Lanes, 'enter'>;
  readonly #options: QueueOptions;
  readonly #context: OperatorContext;
  #turn = '';
  #place: LaneHandle | undefined;
  #lease: LaneLease | undefined;
  #refusal: NewEvent | undefined;
  #hasLost = false;
  /** The turn was begun in another process: what it does was not begun as a part of it here. */
  #isResumed = false;
  #isReleased = false;
  readonly #held: (() => void)[] = [];
  /** The start of a turn whose journal was replayed. */
  #replayed: TurnEventOf<'turn.start'> | undefined;
  /** Approvals that were requested and not answered. */
  readonly #approvals = new Set<string>();

  constructor(lanes: Pick<Lanes, 'enter'>, options: QueueOptions, context: OperatorContext) {
    this.#lanes = lanes;
    this.#options = options;
    this.#context = context;
  }

  /** Remembers the start of the turn: if nothing has decided about it, the turn is being resumed. */
  started(start: TurnEventOf<'turn.start'>): void {
    if (!this.#place) this.#replayed = start;
  }

  /** The turn is live. If it was resumed, requests a slot ahead of waiting requests: its session is open already. */
  resume(): void {
    if (this.#replayed) this.enter(this.#replayed, true);
  }

  /** Requests a slot, and holds the start of the turn until it is admitted. */
  begin(start: TurnEventOf<'turn.start'>): Observable<Answer | undefined> {
    return new Observable((subscriber) => {
      const since = this.#context.now();
      let hasWaited = false;
      const held = this.hold((lease) =>
        this.#beginning(start, lease, hasWaited ? this.#context.now() - since : undefined),
      ).subscribe(subscriber);
      this.enter(start, false);
      hasWaited = true;
      return held;
    });
  }

  /** Asks for a place; ahead of those who wait, for a turn that has its session open already. */
  enter(start: TurnEventOf<'turn.start'>, ahead: boolean): void {
    const { laneOf, groupsOf, idleTimeoutMs, deadlineMs, graceMs, maxWaitMs } = this.#options;
    this.#turn = start.turn;
    this.#isResumed = ahead;
    this.#place = this.#lanes.enter(
      {
        session: laneOf?.(start) ?? start.session,
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
    // The turn may have ended while it was notified of its position.
    if (this.#isReleased) this.#place.release();
  }

  /** Holds an event until it is known whether there is a place, or until it has its slot again; and goes on as a part of its work. */
  hold(then: (lease: LaneLease) => Answer | undefined): Observable<Answer | undefined> {
    return new Observable((subscriber) => {
      const goOn = (): void => {
        const lease = this.#lease;
        if (lease) lease.within(() => subscriber.next(then(lease)));
        else subscriber.next(this.#refusal);
        subscriber.complete();
      };
      if (this.#refusal || (this.#lease && this.#lease.goOn?.() !== false)) goOn();
      // Binds to this turn's async context: the caller that releases the slot may belong to another turn.
      else this.#held.push(AsyncResource.bind(goOn));
    });
  }

  /** Lets an event pass as a part of the turn's work, once there is a place. */
  asPart(event: { readonly type: string }): Observable<Answer | undefined> | undefined {
    return this.#place ? this.hold(() => this.fence(event)) : undefined;
  }

  /** The same for what comes of an event that was let pass like that, in the same breath: where there is a slot, nothing more is to be done. */
  whenAtWork(event: { readonly type: string }): Observable<Answer | undefined> | Answer | undefined {
    const isAtWork = !this.#isResumed && this.#lease !== undefined && this.#lease.goOn?.() !== false;
    return isAtWork ? this.fence(event) : this.asPart(event);
  }

  /** What is done about an event of a turn whose place has been given to others. */
  fence(event: { readonly type: string }): Answer | undefined {
    if (!this.#hasLost || !this.#lease) return undefined;
    const { session, fence } = this.#lease;
    return [notice('queue.fenced', { session, fence, event: event.type }), lostStop(session)];
  }

  /** Lets an event pass that nothing can stand for, once there is a slot. */
  whenBack(): Observable<Answer | undefined> | undefined {
    return this.#lease ? this.hold(() => undefined) : undefined;
  }

  progress(): void {
    this.#lease?.progress();
  }

  /** The turn waits for a person: its slot is lent. */
  asked(approval: string): void {
    this.#approvals.add(approval);
    this.#lendWhileAsking();
  }

  /** An answer has arrived. It passes once the turn has a slot. */
  answering(approval: string): Observable<Answer | undefined> | undefined {
    this.#approvals.delete(approval);
    return this.whenBack();
  }

  /** An answer has passed. While others are open, the slot is lent again. */
  answered(approval: string): void {
    this.#approvals.delete(approval);
    this.progress();
    this.#lendWhileAsking();
  }

  /** A step begins: whatever the step before has asked, it waits no longer. */
  nextStep(): void {
    this.#approvals.clear();
  }

  isAtWork(): boolean {
    return this.#approvals.size > 0 || this.#options.isAtWork?.(this.#turn) === true;
  }

  ending(): void {
    this.#lease?.ending();
  }

  /** The turn stops: if it has no slot yet, it needs none. */
  stopping(): void {
    if (!this.#lease) this.release();
  }

  release(): void {
    this.#isReleased = true;
    this.#place?.release();
    this.#lease?.release();
  }

  admitted(lease: LaneLease): void {
    this.#lease = lease;
    // The answer of another process may have been on its way when the turn ended.
    if (this.#isReleased) lease.release();
    else this.#back();
  }

  refused(error: LaneError): void {
    this.#refusal = stop(refusals[error.code] ?? 'blocked', error.message, toErrorInfo(error));
    this.#known();
  }

  waiting(place: WaitingNotice): void {
    this.#context.emit(notice('queue.waiting', place));
  }

  aborted(error: LaneError): void {
    const outcome = error instanceof LaneTimeoutError ? 'timed-out' : 'cancelled';
    this.#context.emit(stop(outcome, error.message, toErrorInfo(error)));
    this.#known();
  }

  lost(): void {
    this.#hasLost = true;
  }

  returned(): void {
    this.#back();
  }

  #back(): void {
    this.#known();
    this.#lendWhileAsking();
  }

  #lendWhileAsking(): void {
    if (this.#approvals.size > 0) this.#lease?.pause?.();
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

  #known(): void {
    for (const goOn of this.#held.splice(0)) goOn();
  }
}

/** The outcome of a turn that is refused. */
const refusals: Readonly<Partial<Record<LaneError['code'], TurnOutcome>>> = {
  'lane-waited-too-long': 'timed-out',
  'lane-aborted': 'cancelled',
  'lane-cleared': 'cancelled',
  'lane-closed': 'cancelled',
};

const lostStop = (session: string): NewEvent =>
  stop(
    'timed-out',
    `The slot of session ${JSON.stringify(session)} was given to another turn; late results are not written.`,
  );
