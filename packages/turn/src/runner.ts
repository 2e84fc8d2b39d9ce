import type { Subscriber } from 'rxjs';
import type { ApprovalHolder } from './approvals.js';
import { CallIds } from './call-ids.js';
import { stop } from './decisions.js';
import { SessionStuckError, type OperatorError } from './errors.js';
import { EventQueue } from './event-queue.js';
import type { NewEvent, NewEventOf, TurnEvent, TurnEventOf, TurnState } from './events.js';
import { isDerived, isRecorded } from './journal.js';
import {
  accepts,
  fold,
  initialState,
  interrupt,
  isRepeatable,
  phaseOf,
  runnable,
  type LoopState,
} from './loop-state.js';
import type { Message, UserMessage } from './messages.js';
import type { EffectHost } from './model-call.js';
import { closeAlone, failed, type LastWord, type Reopened } from './opening.js';
import { Outbox } from './outbox.js';
import { connectPipeline, natives, type Pipeline } from './pipeline.js';
import { interruptedResults, isOnItsWay, isUsedUp, planCap, planNext, type Plan } from './plan.js';
import type { RunnerOptions } from './runner-options.js';
import type { SessionHolder } from './session-gate.js';
import type { MaybePromise } from './session-store.js';
import { isPromise } from './session-writer.js';
import { Steering } from './steering.js';
import { later } from './timers.js';
import { TurnEffects } from './turn-effects.js';
import { TurnSession } from './turn-session.js';

const cannotOpen = 'The session could not be opened.';
const cannotContinue = 'The turn could not continue.';

/**
 * One turn at work.
 *
 * Events enter the pipeline at one place, {@link enter}, and leave it at one place, `#leave`. An event that has left is
 * committed: added to the state, shown to the operators, sent to the journal and performed. What comes next is read off the
 * state ({@link planNext}). The subscriber sees an event once it is stored.
 */
export class TurnRun implements SessionHolder, EffectHost, ApprovalHolder {
  readonly #options: RunnerOptions;
  readonly #subscriber: Subscriber<TurnEvent>;
  readonly #queue: EventQueue;
  readonly #session: TurnSession<TurnRun>;
  readonly #effects: TurnEffects;
  readonly #outbox: Outbox;
  #pipeline: Pipeline | undefined;
  #state: LoopState;
  /** What was fed last, and may be on its way. */
  #plan: Plan | undefined;
  #isEndFed = false;
  /** The messages that the runner itself has asked to append last. */
  #fed: readonly Message[] | undefined;
  readonly #steering = new Steering();
  /** A stop that no operator can reject: of a caller, of the cap, or of a broken turn. */
  #lastWord: TurnEventOf<'turn.stop'> | undefined;
  #cancelGrace: (() => void) | undefined;
  #setupFailure: OperatorError | undefined;
  /** Its journal is being read: nothing enters until it has been replayed. */
  #isReopening = false;
  #isBroken = false;
  #hasObservedEnd = false;
  /** It ends, or has ended, without its operators. */
  #isOver = false;
  #isConcluded = false;

  constructor(turn: string, options: RunnerOptions, subscriber: Subscriber<TurnEvent>) {
    this.#options = options;
    this.#subscriber = subscriber;
    this.#state = initialState(turn);
    this.#session = new TurnSession<TurnRun>(options.gate, this, options);
    this.#effects = new TurnEffects(options.model, options.tools, this);
    this.#queue = new EventQueue(options.scheduler);
    this.#outbox = new Outbox({
      write: (event, derived) => this.#write(event, derived),
      show: (event) => this.#show(event),
      onFailed: (error) => this.#cannotWrite(error),
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

  get phase(): TurnState {
    return phaseOf(this.#state, this.#effects.areToolsRunning);
  }

  get isEnding(): boolean {
    return this.#isOver || this.#state.stop !== undefined;
  }

  /** Asks for a new turn. One that is cancelled already ends with its operators watching. */
  begin(start: NewEventOf<'turn.start'>, cancelled?: string): void {
    this.#state = initialState(this.turn, start);
    if (!this.#connect()) return;
    this.#pipeline?.start();
    if (cancelled === undefined) this.feed(start);
    else this.cancel(cancelled);
  }

  /** Continues a turn where its journal ends. One that is cancelled by then ends there, with its operators watching. */
  resume(cancelled?: string): void {
    if (!this.#connect()) return;
    this.#reopen(
      () => this.#recover(),
      (error) => {
        this.#pipeline?.start();
        this.#cannotOpen(error);
      },
    );
    if (cancelled !== undefined) this.cancel(cancelled);
  }

  /** Ends a turn whose process is gone where its journal ends: shows it and runs nothing, no operator either. */
  finish(reason: string): void {
    const end = (lastWord: LastWord): void => this.#endAlone(lastWord, { isInterrupted: true });
    this.#reopen(
      () => end({ outcome: 'error', reason }),
      (error) => end(failed(cannotOpen, error)),
    );
  }

  /** Lets a fact or command enter at the top. */
  feed(event: NewEvent): void {
    this.enter({ turn: this.turn, at: this.now(), ...event });
  }

  /** Lets an event that is complete enter at the top. */
  enter(event: TurnEvent): void {
    if (this.#isOver) return;
    // An operator that changes an event in place fails where it does so, instead of breaking the state of the turn.
    if (event.type !== 'model.delta') Object.freeze(event);
    this.#pipeline?.feed(event);
  }

  now(): number {
    return this.#queue.now();
  }

  /** Takes in a message for the next step; `false` if the turn has none to come. */
  steer(id: string, message: UserMessage): boolean {
    if (this.isEnding) return false;
    if (this.#steering.add(id, message)) this.feed({ type: 'input.received', id, message });
    return true;
  }

  /** Ends the turn from outside, with its operators watching. */
  cancel(reason: string): void {
    this.#endSoon({ outcome: 'cancelled', reason });
  }

  /** The subscriber has left: ends the turn at once, without its operators. */
  abandon(): void {
    this.#endAlone({ outcome: 'cancelled', reason: 'The subscriber left.' });
  }

  /** Connects the operators. If one cannot be set up, the turn ends before it begins. */
  #connect(): boolean {
    const pipeline = connectPipeline(
      this.#options.operators,
      this.#queue,
      {
        next: (event) => this.#leave(event),
        failed: (error, event) => this.#operatorFailed(error, event),
        replaced: (event) => this.#forgetPlanOf(event),
        error: (error) => this.#endAlone(failed('A native operator in the pipe failed.', error)),
        complete: () =>
          this.#endAlone({ outcome: 'cancelled', reason: 'An operator in the pipe completed the stream.' }),
      },
      this.turn,
    );
    this.#pipeline = pipeline;
    if (this.#isOver) pipeline.close();
    else if (this.#setupFailure) this.#operatorFailed(this.#setupFailure, undefined);
    else return true;
    return false;
  }

  /** An event has left the pipeline. Whatever is wrong with it, the turn ends in a valid state. */
  #leave(event: TurnEvent): void {
    try {
      if (this.#isOver) return;
      if (isRecorded(event.type)) this.#admit(event);
      else this.#pass(event);
    } catch (error) {
      this.#broken(failed(cannotContinue, error));
    }
  }

  /** What changes nothing: deltas, progress and notices. */
  #pass(event: TurnEvent): void {
    const failure = this.#observe(event);
    this.#outbox.pass(event);
    if (failure) this.#broken(failure);
  }

  /** Commits an event that means something where the turn stands. */
  #admit(given: TurnEvent): void {
    const event = this.#adjusted(given);
    const isOneTooMany = event.type === 'model.request' && isUsedUp(this.#state, this.#options);
    if (!isOneTooMany && accepts(this.#state, event)) {
      this.#commit(event);
      this.#advance();
      return;
    }
    if (event.type === 'turn.end') {
      if (this.#replansEnd()) return;
      throw new TypeError(`${natives(this.#options.operators)} emitted turn.end, which only the runner emits.`);
    }
    const isStaleStop = event.type === 'turn.stop' && event.afterStep !== undefined;
    if (!isStaleStop) {
      const reason = 'The turn expects no such event now.';
      this.#pass({ type: 'event.ignored', turn: this.turn, at: event.at, event: event.type, reason });
    }
    if (isOneTooMany && !this.isEnding) this.#feedPlan(planCap(this.#state, this.#options, event.at));
    this.#advance();
  }

  /** Whether the session was loaded while the end was on its way: there is something to complete now. */
  #replansEnd(): boolean {
    if (!this.#isEndFed) return false;
    this.#isEndFed = false;
    if (this.#plan?.name === 'end') this.#plan = undefined;
    this.#advance();
    return true;
  }

  /** The event as it counts. */
  #adjusted(event: TurnEvent): TurnEvent {
    switch (event.type) {
      case 'model.response':
        return this.callIds.ownedBy(event);
      case 'turn.continue':
        return this.#lastWord ?? event;
      case 'turn.end':
        return this.#steering.addTo(event);
      default:
        return event;
    }
  }

  /** Adds an event to the state, shows it to the operators, sends it to the journal and performs it, in this order. */
  #commit(event: TurnEvent): void {
    const derived = isDerived(event, this.#state, this.#fed);
    if (event.type === 'approval.request') this.#options.approvals.open(event.id, this);
    else if (event.type === 'approval.answer') this.#options.approvals.close(event.id, this);
    else if (event.type === 'input.received') this.#steering.hasLeft(event.id);
    fold(this.#state, event);
    const failure = this.#observe(event);
    if (failure && event.type === 'turn.end') {
      this.#endAlone(failure);
      return;
    }
    this.#outbox.record(event, derived);
    if (!this.#isOver) this.#effects.perform(event);
    if (failure) this.#broken(failure);
  }

  /** Shows an event to the operators. The first failure of one of them ends the turn behind this event. */
  #observe(event: TurnEvent): LastWord | undefined {
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
      (error) => this.#cannotOpen(error),
    );
  }

  /** Shows an event to the subscriber, now that it is stored. */
  #show(event: TurnEvent): void {
    if (event.type === 'turn.end') this.#conclude(event);
    else this.#subscriber.next(event);
  }

  /** Feeds what comes next, unless it is on its way already. */
  #advance(): void {
    const state = this.#state;
    if (this.#isOver || this.#session.isOpening) return;
    if (this.#outbox.isLagging && !state.stop) return;
    if (!state.stop) this.#effects.runDecided(state, (callback) => this.#outbox.whenStored(callback));
    const plan = planNext(state, this.#options, this.now());
    if (plan?.isForRequest === true && isOnItsWay(this.#plan, state)) return;
    if (plan && (plan.name !== this.#plan?.name || plan.count !== this.#plan.count)) this.#feedPlan(plan);
    if (state.stop) void Promise.resolve().then(() => this.#limitEnding());
  }

  #feedPlan(plan: Plan): void {
    this.#plan = plan;
    this.#isEndFed ||= plan.name === 'end';
    for (const event of plan.events()) {
      if (plan.isFinal && event.type === 'turn.stop') this.#decide(event);
      if (event.type === 'history.append') this.#fed = event.messages;
      this.enter(event);
    }
  }

  /** Something else takes the place of what the runner asked to append: it has to ask again. */
  #forgetPlanOf(event: TurnEvent | undefined): void {
    if (event?.type === 'history.append') this.#plan = undefined;
  }

  #feedSession(): void {
    const { opened } = this.#session;
    if (!opened) return;
    const { messages, state, repairs } = opened;
    this.feed({ type: 'session.loaded', session: this.session, messages, state, repairs });
  }

  #cannotOpen(error: unknown): void {
    this.feed({ type: 'turn.stop', ...failed(cannotOpen, error) });
  }

  /** Opens the session of a turn that has begun before, and shows its journal. */
  #reopen(onReplayed: () => void, onError: (error: unknown) => void): void {
    this.#isReopening = true;
    this.#session.reopen(
      this.turn,
      ({ loop, recorded }: Reopened) => {
        this.#isReopening = false;
        this.#state = loop;
        let failure: LastWord | undefined;
        for (const event of recorded) {
          if (event.type === 'input.received') this.#steering.hasLeft(event.id);
          failure ??= this.#observe(event);
          this.#outbox.pass({ ...event, replayed: true });
        }
        if (failure) this.#endAlone(failure);
        else if (!loop.end) onReplayed();
      },
      (error) => {
        this.#isReopening = false;
        onError(error);
      },
    );
  }

  /** Repeats what is safe to repeat of what was under way when the process died. */
  #recover(): void {
    const state = this.#state;
    const lastWord = this.#lastWord;
    interrupt(state);
    for (const id of state.approvals) this.#options.approvals.open(id, this);
    this.#pipeline?.start();
    if (!state.loaded) {
      this.#feedSession();
    } else if (state.slots.size > 0 && state.slots.areDecided) {
      const slots = runnable(state);
      this.#effects.runTools(state.stop ? [] : slots.filter(isRepeatable), state.step);
      const lost = slots.filter((slot) => !isRepeatable(slot));
      for (const event of interruptedResults(state, lost, this.now())) this.enter(event);
    }
    this.#advance();
    if (lastWord) this.enter(lastWord);
  }

  /** The event on which an operator failed does not leave; the other operators see the turn end. */
  #operatorFailed(error: OperatorError, event: TurnEvent | undefined): void {
    if (this.#isOver || this.#state.end) return;
    if (!this.#pipeline) {
      this.#setupFailure ??= error;
      return;
    }
    this.#forgetPlanOf(event);
    this.#broken(failed(error.message, error));
  }

  /** Something that must not fail has failed: the operators see the turn end, unless that fails, too. */
  #broken(lastWord: LastWord): void {
    if (this.#isBroken || this.#state.stop) this.#endAlone(lastWord);
    else this.#endSoon(lastWord);
    this.#isBroken = true;
  }

  /** Ends the turn with its operators watching, for as long as they may take. */
  #endSoon(lastWord: LastWord): void {
    if (this.#isOver) return;
    const command = { turn: this.turn, at: this.now(), ...stop(lastWord.outcome, lastWord.reason, lastWord.error) };
    this.#decide(command);
    if (!this.#isReopening) this.enter(command);
  }

  #decide(lastWord: TurnEventOf<'turn.stop'>): void {
    this.#lastWord = lastWord;
    this.#limitEnding();
  }

  /** From now on operators may hold events for `closeGraceMs`. */
  #limitEnding(): void {
    if (this.#isConcluded || this.#cancelGrace) return;
    const { scheduler, closeGraceMs } = this.#options;
    this.#cancelGrace = later(scheduler, closeGraceMs, () => this.#endAlone(this.#lastWord ?? heldBack));
  }

  /** Ends the turn without its operators. They still observe what happens. */
  #endAlone(lastWord: LastWord, { isInterrupted = false } = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#effects.stop();
    if (this.#session.isOpening) this.#outbox.fail();
    if (!this.#state.end || lastWord.error) this.#close(lastWord, isInterrupted);
    this.#pipeline?.close();
    if (!this.#isConcluded) {
      this.#session.watch((operation) => this.#cannotWrite(new SessionStuckError(this.session, operation)));
    }
  }

  /** What is not stored has not happened: the turn ends with an error, even if it was about to end in another way. */
  #cannotWrite(error: unknown): void {
    if (this.#isConcluded) return;
    this.#isOver = true;
    this.#effects.stop();
    this.#outbox.fail();
    this.#close(failed('The journal could not be written.', error), false);
    if (this.#state.end) this.#conclude(this.#state.end);
  }

  #close(lastWord: LastWord, isInterrupted: boolean): void {
    closeAlone(this.#state, this.now(), lastWord, isInterrupted, (event) => {
      if (event.type === 'history.append') this.#fed = event.messages;
      this.#commit(this.#adjusted(event));
    });
  }

  /** Releases the session, then tells the subscriber and the operators that the turn has ended. */
  #conclude(end: TurnEventOf<'turn.end'>): void {
    if (this.#isConcluded) return;
    this.#isConcluded = true;
    this.#isOver = true;
    this.#effects.stop();
    this.#cancelGrace?.();
    const complete = (): void => {
      this.#options.approvals.forget(this);
      this.#subscriber.next(end);
      this.#pipeline?.close();
      this.#subscriber.complete();
    };
    const released = this.#session.letGo();
    if (isPromise(released)) void released.then(complete);
    else complete();
  }
}

const heldBack: LastWord = { outcome: 'error', reason: 'An operator held back the end of the turn.' };
