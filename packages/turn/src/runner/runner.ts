import { later } from '@h/options';
import type { Subscriber } from 'rxjs';
import type { ApprovalHolder } from './approvals.js';
import { CallIds } from '../transcript/call-ids.js';
import { stop } from '../contract/decisions.js';
import { SessionStuckError, toErrorInfo, type OperatorError } from '../contract/errors.js';
import { EventQueue } from '../operators/event-queue.js';
import type { NewEvent, NewEventOf, TurnEvent, TurnEventOf, TurnState } from '../contract/events.js';
import { isDerived, isRecorded } from '../journal/journal.js';
import { accepts, fold, initialState, interrupt, phaseOf, type LoopState } from '../loop/loop-state.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import type { Message, UserMessage } from '../contract/messages.js';
import type { EffectHost } from './effects.js';
import { closeTurn, failed, type Ending, type Reopened } from './opening.js';
import { Outbox } from './outbox.js';
import type { Pipeline } from '../operators/pipeline.js';
import { lostResults, isInFlight, isOverCap, planCap, planNext, type Plan } from '../loop/plan.js';
import type { RunnerOptions } from './runner-options.js';
import type { SessionHolder } from '../journal/session-gate.js';
import { Steering } from './steering.js';
import { TurnEffects } from './turn-effects.js';
import { TurnSession } from './turn-session.js';

/** The reason includes the message of the error, which says who holds the session, or why its store failed. */
const openFailed = (error: unknown): Ending =>
  failed(`The session could not be opened. ${toErrorInfo(error).message}`, error);

/**
 * Runs one turn.
 *
 * Events enter the pipeline in {@link enter} and leave it in `#leave`. An event that has left is committed: folded into
 * the state, passed to the operators' `observe` handlers, sent to the journal and performed. {@link planNext} derives
 * the next step from the state. The subscriber receives an event after it is stored.
 */
export class TurnRun implements SessionHolder, EffectHost, ApprovalHolder {
  readonly #options: RunnerOptions;
  readonly #subscriber: Subscriber<TurnEvent>;
  readonly #queue: EventQueue;
  readonly #session: TurnSession;
  readonly #effects: TurnEffects;
  readonly #outbox: Outbox;
  #pipeline: Pipeline | undefined;
  #state: LoopState;
  /** The plan that was fed last; its events may still be in the pipeline. */
  #plan: Plan | undefined;
  #isEndProposed = false;
  /** The messages that the runner itself proposed last; a journal can derive them, so it need not store them. */
  #proposed: readonly Message[] | undefined;
  readonly #steering = new Steering();
  /** A stop that no operator can reject: from the caller, from the cap on model calls, or after a failure. */
  #finalStop: TurnEventOf<'turn.stop'> | undefined;
  #cancelEndTimer: (() => void) | undefined;
  #setupFailure: OperatorError | undefined;
  /** The journal is being read; events enter after it has been replayed. */
  #isReopening = false;
  #isBroken = false;
  #hasObservedEnd = false;
  /** The turn is ending, or has ended, without its operators. */
  #isClosed = false;
  #hasEnded = false;

  constructor(turn: string, options: RunnerOptions, subscriber: Subscriber<TurnEvent>) {
    this.#options = options;
    this.#subscriber = subscriber;
    this.#state = initialState(turn);
    this.#session = new TurnSession(options.gate, this, options);
    this.#effects = new TurnEffects(options.model, options.tools, this);
    this.#queue = new EventQueue(options.scheduler);
    this.#outbox = new Outbox({
      write: (event, derived) => this.#write(event, derived),
      show: (event) => this.#show(event),
      onFailed: (error) => this.#onWriteFailed(error),
      onCaughtUp: () => this.#advance(),
    });
  }

  get turn(): string {
    return this.#state.turn;
  }

  get session(): string {
    return this.#state.session;
  }

  get step(): number {
    return this.#state.step;
  }

  get callIds(): CallIds {
    return this.#session.opened?.callIds ?? new CallIds();
  }

  get deadlineAt(): number | undefined {
    return Number.isFinite(this.#queue.deadlineAt) ? this.#queue.deadlineAt : undefined;
  }

  get phase(): TurnState {
    return phaseOf(this.#state, this.#effects.areToolsRunning);
  }

  get isEnding(): boolean {
    return this.#isClosed || this.#state.stop !== undefined;
  }

  /** Starts a new turn. If it is already cancelled, it ends with its operators connected. */
  begin(start: NewEventOf<'turn.start'>, cancelled?: string): void {
    this.#state = initialState(this.turn, start);
    if (!this.#connect()) return;
    this.#pipeline?.start();
    if (cancelled === undefined) this.feed(start);
    else this.cancel(cancelled);
  }

  /**
   * Resumes a turn at the end of its journal. If it is already cancelled, it ends there with its operators connected.
   */
  resume(cancelled?: string): void {
    if (!this.#connect()) return;
    this.#reopen(
      () => this.#recover(),
      (error) => {
        this.#pipeline?.start();
        this.#onOpenFailed(error);
      },
    );
    if (cancelled !== undefined) this.cancel(cancelled);
  }

  /** Ends a turn whose process died: emits its journal and runs neither drivers nor operators. */
  finish(reason: string): void {
    const end = (ending: Ending): void => this.#endWithoutOperators(ending, { isInterrupted: true });
    this.#reopen(
      () => end({ outcome: 'error', reason }),
      (error) => end(openFailed(error)),
    );
  }

  /** Ends a turn that cannot begin: runs neither drivers nor operators. */
  fail(reason: string, error: unknown): void {
    this.#endWithoutOperators(failed(reason, error));
  }

  /** Adds the envelope to an event and sends it into the pipeline. */
  feed(event: NewEvent): void {
    this.enter({ turn: this.turn, at: this.now(), ...event });
  }

  /** Sends a complete event into the pipeline. */
  enter(event: TurnEvent): void {
    if (this.#isClosed) return;
    // An operator that mutates an event throws at that place instead of corrupting the state of the turn.
    if (event.type !== 'model.delta') Object.freeze(event);
    if ('call' in event) Object.freeze(event.call);
    this.#pipeline?.feed(event);
  }

  now(): number {
    return this.#queue.now();
  }

  /** Accepts a message for the next step; returns `false` if the turn is ending. */
  steer(id: string, message: UserMessage): boolean {
    if (this.isEnding) return false;
    if (this.#steering.add(id, message)) this.feed({ type: 'input.received', id, message });
    return true;
  }

  /** Ends the turn from outside, with its operators connected. */
  cancel(reason: string): void {
    this.#requestEnd({ outcome: 'cancelled', reason });
  }

  /** Ends the turn at once, without its operators, because the subscriber left. */
  abandon(): void {
    this.#endWithoutOperators({ outcome: 'cancelled', reason: 'The subscriber unsubscribed.' });
  }

  /** Connects the operators. If the setup of one fails, the turn ends before it begins. */
  #connect(): boolean {
    const pipeline = this.#options.pipeline.connect(
      this.#queue,
      {
        next: (event) => this.#leave(event),
        failed: (error, event) => this.#operatorFailed(error, event),
        replaced: (event) => this.#replan(event),
        error: (error) => this.#endWithoutOperators(failed('A native RxJS operator failed.', error)),
        complete: () =>
          this.#endWithoutOperators({ outcome: 'cancelled', reason: 'A native RxJS operator completed the stream.' }),
      },
      this.turn,
    );
    this.#pipeline = pipeline;
    if (this.#isClosed) pipeline.close();
    else if (this.#setupFailure) this.#operatorFailed(this.#setupFailure, undefined);
    else return true;
    return false;
  }

  /** Handles an event that left the pipeline. If handling fails, the turn still ends in a valid state. */
  #leave(event: TurnEvent): void {
    try {
      if (this.#isClosed) return;
      if (isRecorded(event.type)) this.#admit(event);
      else this.#pass(event);
    } catch (error) {
      this.#failTurn(failed('The turn could not continue.', error));
    }
  }

  /** Passes on an event that does not change the state: a delta, progress or a notice. */
  #pass(event: TurnEvent): void {
    const failure = this.#observe(event);
    this.#outbox.pass(event);
    if (failure) this.#failTurn(failure);
  }

  /** Commits an event that is valid in the current state; ignores any other. */
  #admit(given: TurnEvent): void {
    const event = this.#adjusted(given);
    const exceedsCap = event.type === 'model.request' && isOverCap(this.#state, this.#options);
    if (!exceedsCap && accepts(this.#state, event)) {
      this.#commit(event);
      this.#advance();
      return;
    }
    if (event.type === 'turn.end') {
      if (this.#replansEnd()) return;
      throw new TypeError(`${this.#options.pipeline.nativeNames} emitted turn.end, which only the runner emits.`);
    }
    const isStaleStop = event.type === 'turn.stop' && event.afterStep !== undefined;
    if (!isStaleStop) {
      const reason = 'The turn does not expect this event in its current state.';
      this.#pass({ type: 'event.ignored', turn: this.turn, at: event.at, event: event.type, reason });
    }
    if (exceedsCap && !this.isEnding) this.#feedPlan(planCap(this.#state, this.#options, event.at));
    this.#advance();
  }

  /** Plans the end again if the session was loaded while `turn.end` was in the pipeline. */
  #replansEnd(): boolean {
    if (!this.#isEndProposed) return false;
    this.#isEndProposed = false;
    if (this.#plan?.name === 'end') this.#plan = undefined;
    this.#advance();
    return true;
  }

  /** Completes an event with what only the runner knows. */
  #adjusted(event: TurnEvent): TurnEvent {
    switch (event.type) {
      case 'model.response':
        return this.callIds.withUniqueIds(event);
      case 'turn.continue':
        return this.#finalStop ?? event;
      case 'turn.end':
        return this.#steering.addTo(event);
      default:
        return event;
    }
  }

  /** Folds an event into the state, then observes, records and performs it, in this order. */
  #commit(event: TurnEvent): void {
    const derived = isDerived(event, this.#state, this.#proposed);
    if (event.type === 'approval.request') this.#options.approvals.open(event.id, this);
    else if (event.type === 'approval.answer') this.#options.approvals.close(event.id, this);
    else if (event.type === 'input.received') this.#steering.markCommitted(event.id);
    else if (event.type === 'turn.stop' && this.#session.isOpening) this.#limitEnding();
    fold(this.#state, event);
    const failure = this.#observe(event);
    if (failure && event.type === 'turn.end') {
      this.#endWithoutOperators(failure);
      return;
    }
    this.#outbox.record(event, derived);
    if (!this.#isClosed) this.#effects.perform(event);
    if (failure) this.#failTurn(failure);
  }

  /** Passes an event to the observers. The first failure ends the turn after this event. */
  #observe(event: TurnEvent): Ending | undefined {
    if (this.#hasObservedEnd) return undefined;
    this.#hasObservedEnd = event.type === 'turn.end';
    const error = this.#pipeline?.observe(event);
    return error && failed(error.message, error);
  }

  #write(event: TurnEvent, derived: boolean): MaybePromise<void> {
    if (event.type !== 'turn.start') return this.#session.write(event, derived);
    return this.#session.begin(
      event,
      this.now(),
      () => this.#feedSession(),
      (error) => this.#onOpenFailed(error),
    );
  }

  /** Emits a stored event to the subscriber. */
  #show(event: TurnEvent): void {
    if (event.type === 'turn.end') this.#conclude(event);
    else this.#subscriber.next(event);
  }

  /** Feeds the next plan, unless its events are already in the pipeline. */
  #advance(): void {
    const state = this.#state;
    if (this.#isClosed || this.#session.isOpening) return;
    if (this.#outbox.isLagging && !state.stop) return;
    if (!state.stop) this.#effects.runDecided(state, this.#outbox);
    const plan = planNext(state, this.#options, this.now());
    if (plan?.isForRequest === true && isInFlight(this.#plan, state)) return;
    if (plan && (plan.name !== this.#plan?.name || plan.count !== this.#plan.count)) this.#feedPlan(plan);
    if (state.stop) void Promise.resolve().then(() => this.#limitEnding());
  }

  #feedPlan(plan: Plan): void {
    this.#plan = plan;
    this.#isEndProposed ||= plan.name === 'end';
    for (const event of plan.events()) {
      if (plan.isFinal && event.type === 'turn.stop') this.#decide(event);
      if (event.type === 'history.append') this.#proposed = event.messages;
      this.enter(event);
    }
  }

  /** Plans again after an operator replaced messages that the runner proposed. */
  #replan(event: TurnEvent | undefined): void {
    if (event?.type === 'history.append') this.#plan = undefined;
  }

  #feedSession(): void {
    const { opened } = this.#session;
    if (!opened) return;
    const { messages, state, repairs } = opened;
    this.feed({ type: 'session.loaded', session: this.session, messages, state, repairs });
  }

  #onOpenFailed(error: unknown): void {
    this.feed({ type: 'turn.stop', ...openFailed(error) });
  }

  /** Opens the session of an earlier turn and emits its journal. */
  #reopen(onReplayed: () => void, onError: (error: unknown) => void): void {
    this.#isReopening = true;
    this.#session.reopen(
      this.turn,
      ({ loop, recorded }: Reopened) => {
        this.#isReopening = false;
        this.#state = loop;
        let failure: Ending | undefined;
        for (const event of recorded) {
          if (event.type === 'input.received') this.#steering.markCommitted(event.id);
          failure ??= this.#observe(event);
          this.#outbox.pass({ ...event, replayed: true });
        }
        if (failure) this.#endWithoutOperators(failure);
        else if (!loop.end) onReplayed();
      },
      (error) => {
        this.#isReopening = false;
        onError(error);
      },
    );
  }

  /** Repeats the interrupted work that is safe to repeat after the process died. */
  #recover(): void {
    const state = this.#state;
    const finalStop = this.#finalStop;
    interrupt(state);
    for (const id of state.approvals) this.#options.approvals.open(id, this);
    this.#pipeline?.start();
    if (!state.loaded) {
      this.#feedSession();
    } else if (state.slots.size > 0 && state.slots.areDecided) {
      this.#effects.rerun(state);
      for (const event of lostResults(state, this.now())) this.enter(event);
    }
    this.#advance();
    if (finalStop) this.enter(finalStop);
  }

  /** Ends the turn after an operator failed. The event on which it failed does not leave. */
  #operatorFailed(error: OperatorError, event: TurnEvent | undefined): void {
    if (this.#isClosed || this.#state.end) return;
    if (!this.#pipeline) {
      this.#setupFailure ??= error;
      return;
    }
    this.#replan(event);
    this.#failTurn(failed(error.message, error));
  }

  /** Ends the turn after a failure; without the operators if it has failed before or is stopping. */
  #failTurn(ending: Ending): void {
    if (this.#isBroken || this.#state.stop) this.#endWithoutOperators(ending);
    else this.#requestEnd(ending);
    this.#isBroken = true;
  }

  /** Ends the turn with its operators connected, for `closeGraceMs` at most. */
  #requestEnd(ending: Ending): void {
    if (this.#isClosed) return;
    const command = { turn: this.turn, at: this.now(), ...stop(ending.outcome, ending.reason, ending.error) };
    this.#decide(command);
    if (!this.#isReopening) this.enter(command);
  }

  #decide(ending: TurnEventOf<'turn.stop'>): void {
    this.#finalStop = ending;
    this.#limitEnding();
  }

  /** Limits how long operators may hold events from now on to `closeGraceMs`. */
  #limitEnding(): void {
    if (this.#hasEnded || this.#cancelEndTimer) return;
    const { scheduler, closeGraceMs } = this.#options;
    this.#cancelEndTimer = later(scheduler, closeGraceMs, () =>
      this.#endWithoutOperators(this.#finalStop ?? withheldEnd),
    );
  }

  /** Ends the turn without waiting for its operators. They still observe its last events. */
  #endWithoutOperators(ending: Ending, { isInterrupted = false } = {}): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#effects.stop();
    if (this.#session.isOpening) this.#outbox.fail();
    if (!this.#state.end || ending.error) this.#close(ending, isInterrupted);
    this.#pipeline?.close();
    if (!this.#hasEnded) {
      this.#session.watch((operation) => this.#onWriteFailed(new SessionStuckError(this.session, operation)));
    }
  }

  /** Ends the turn with an error, because an event that is not stored has not happened. */
  #onWriteFailed(error: unknown): void {
    if (this.#hasEnded) return;
    this.#isClosed = true;
    this.#effects.stop();
    this.#outbox.fail();
    this.#close(failed('The journal could not be written.', error), false);
    if (this.#state.end) this.#conclude(this.#state.end);
  }

  #close(ending: Ending, isInterrupted: boolean): void {
    closeTurn(this.#state, this.now(), ending, isInterrupted, (event) => {
      if (event.type === 'history.append') this.#proposed = event.messages;
      this.#commit(this.#adjusted(event));
    });
  }

  /** Releases the session, then emits `turn.end` and completes. */
  #conclude(end: TurnEventOf<'turn.end'>): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#isClosed = true;
    this.#effects.stop();
    this.#cancelEndTimer?.();
    const complete = (): void => {
      this.#options.approvals.forget(this);
      this.#subscriber.next(end);
      this.#pipeline?.close();
      this.#subscriber.complete();
    };
    const released = this.#session.release();
    if (isPromise(released)) void released.then(complete);
    else complete();
  }
}

const withheldEnd: Ending = { outcome: 'error', reason: 'An operator withheld turn.end past closeGraceMs.' };
