import type { Subscriber } from 'rxjs';
import { Admission } from './admission.js';
import type { ApprovalHolder } from './approvals.js';
import { CallIds } from './call-ids.js';
import { Conclusion } from './conclusion.js';
import { stop } from './decisions.js';
import { Ending } from './ending.js';
import { SessionStuckError, type OperatorError } from './errors.js';
import type { NewEvent, NewEventOf, TurnEvent, TurnEventOf, TurnState } from './events.js';
import { isDerived, isRecorded } from './journal.js';
import {
  accepts,
  fold,
  initialState,
  isDecided,
  isRepeatable,
  phaseOf,
  runnable,
  type LoopState,
} from './loop-state.js';
import type { Message, UserMessage } from './messages.js';
import type { EffectHost } from './model-call.js';
import { closeAlone, failed, type LastWord, type Reopened } from './opening.js';
import { Outbox } from './outbox.js';
import { connectPipeline } from './pipeline.js';
import { isOnItsWay, isUsedUp, planCap, planInterrupted, planNext, type Plan } from './plan.js';
import type { RunnerOptions } from './runner-options.js';
import type { SessionHolder } from './session-gate.js';
import type { MaybePromise } from './session-store.js';
import { Steering } from './steering.js';
import { TurnEffects } from './turn-effects.js';
import { TurnLoop } from './turn-loop.js';
import { TurnSession } from './turn-session.js';

const cannotOpen = 'The session could not be opened.';

/**
 * One turn at work: feeds facts at the top of the pipeline, performs what leaves it at the bottom.
 *
 * An event that has left is written down, added to the state, shown to the subscriber and performed, in this order.
 * What comes next is then read off the state ({@link planNext}).
 */
export class TurnRun implements SessionHolder, EffectHost, ApprovalHolder {
  readonly #options: RunnerOptions;
  readonly #subscriber: Subscriber<TurnEvent>;
  readonly #loop: TurnLoop;
  readonly #session: TurnSession<TurnRun>;
  readonly #effects: TurnEffects;
  readonly #outbox = new Outbox(
    (error) => this.#cannotWrite(error),
    (error) => this.#broken(failed('The turn could not go on.', error)),
  );
  /** The messages that the runner itself has asked to append last. */
  #fed: readonly Message[] | undefined;
  readonly #steering = new Steering();
  #state: LoopState;
  /** What was asked for last, and is on its way. */
  #wish: Plan | undefined;
  readonly #ending: Ending;
  readonly #admission: Admission;
  readonly #conclusion: Conclusion<TurnRun>;
  #setupFailure: OperatorError | undefined;
  #isBroken = false;
  /** Its journal is being read: until that has been shown, nothing else enters. */
  #isReopening = false;
  #over = false;

  constructor(turn: string, options: RunnerOptions, subscriber: Subscriber<TurnEvent>) {
    this.#options = options;
    this.#subscriber = subscriber;
    this.#state = initialState(turn);
    this.#session = new TurnSession<TurnRun>(options.gate, this, options);
    this.#effects = new TurnEffects(options.model, options.tools, this);
    this.#ending = new Ending(options.scheduler, options.closeGraceMs, (lastWord) => this.#end(lastWord));
    this.#admission = new Admission(this.#ending, () => this.callIds);
    this.#loop = new TurnLoop(options.scheduler);
    this.#loop.turn = turn;
    this.#conclusion = new Conclusion<TurnRun>(
      this,
      this.#session,
      this.#loop,
      this.#ending,
      options.approvals,
      subscriber,
    );
  }

  get turn(): string {
    return this.#state.turn;
  }

  get callIds(): CallIds {
    return this.#session.opened?.callIds ?? new CallIds();
  }

  get session(): string {
    return this.#state.session;
  }

  get step(): number {
    return this.#state.step;
  }

  get phase(): TurnState {
    return phaseOf(this.#state, this.#effects.areToolsRunning);
  }

  get isEnding(): boolean {
    return this.#over || this.#state.stop !== undefined;
  }

  /** Asks for a new turn; one that is cancelled already ends with its operators watching. */
  begin(start: NewEventOf<'turn.start'>, cancelled?: string): void {
    this.#state.session = start.session;
    this.#state.input = start.input;
    if (!this.#connect()) return;
    if (cancelled === undefined) this.feed(start);
    else this.cancel(cancelled);
  }

  /** Goes on with a turn where its journal ends; one that is cancelled by then ends there, with its operators watching. */
  resume(cancelled?: string): void {
    if (!this.#connect()) return;
    this.#reopen(
      (event) => this.enter(event),
      () => this.#recover(),
      (error) => this.#cannotOpen(error),
    );
    if (cancelled !== undefined) this.cancel(cancelled);
  }

  /** Ends a turn whose process is gone where its journal ends: shows it, and runs nothing, no operator either. */
  finish(reason: string): void {
    const end = (lastWord: LastWord): void => this.#end(lastWord, { isInterrupted: true });
    this.#reopen(
      (event) => this.#show(event),
      () => end({ outcome: 'error', reason }),
      (error) => end(failed(cannotOpen, error)),
    );
  }

  #reopen(show: (event: TurnEvent) => void, goOn: () => void, onError: (error: unknown) => void): void {
    const take = ({ loop, recorded }: Reopened): void => {
      this.#isReopening = false;
      this.#state = loop;
      this.#loop.history = loop.history;
      for (const event of recorded) {
        if (event.type === 'input.received') this.#steering.hasLeft(event.id);
        show({ ...event, replayed: true });
      }
      if (!loop.end) goOn();
    };
    this.#isReopening = true;
    this.#session.reopen(this.turn, take, (error) => ((this.#isReopening = false), onError(error)));
  }

  /** Lets a fact or command enter at the top. */
  feed(event: NewEvent): void {
    this.enter({ turn: this.turn, at: this.now(), ...event });
  }

  /** Lets an event that is complete enter at the top. */
  enter(event: TurnEvent): void {
    if (!this.#over) this.#conclusion.pipeline?.feed(event);
  }

  now(): number {
    return this.#loop.now();
  }

  /** Takes in a message for the next step boundary; `false` when the turn has none to come. */
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
    this.#end({ outcome: 'cancelled', reason: 'The subscriber left.' });
  }

  /** Connects the operators; those that cannot even be set up end the turn before it begins. */
  #connect(): boolean {
    const pipeline = connectPipeline(this.#options.operators, this.#loop, {
      next: (event) => this.#take(event),
      failed: (error, event) => this.#operatorFailed(error, event),
      error: (error) => this.#end(failed('A native operator in the pipe failed.', error)),
      complete: () => this.#end({ outcome: 'cancelled', reason: 'An operator in the pipe completed the stream.' }),
    });
    this.#conclusion.pipeline = pipeline;
    if (this.#over) pipeline.close();
    else if (this.#setupFailure) this.#operatorFailed(this.#setupFailure, undefined);
    else return true;
    return false;
  }

  /** Whatever is wrong with an event that has left, the turn ends in order. */
  #take(event: TurnEvent): void {
    try {
      for (let next = this.#admission.admit(event, this.#state); next; next = this.#admission.due(this.#state)) {
        this.#left(next);
      }
    } catch (error) {
      this.#broken(failed('The turn could not go on.', error));
    }
  }

  /** An event has left the pipeline: it is written down, added to the state, and performed once it is safe. */
  #left(event: TurnEvent): void {
    if (this.#over) return;
    if (event.replayed === true || !isRecorded(event.type)) {
      if (this.#outbox.isEmpty) this.#show(event);
      else this.#showLater(event);
      return;
    }
    const isOneTooMany = event.type === 'model.request' && isUsedUp(this.#state, this.#options);
    if (isOneTooMany || !accepts(this.#state, event)) {
      this.#ignore(event);
      if (isOneTooMany && !this.isEnding) this.#feedAll(planCap(this.#state, event.at));
      return;
    }
    const derived = isDerived(event, this.#state, this.#fed);
    fold(this.#state, event);
    this.#loop.history = this.#state.history;
    if (event.type === 'turn.stop') this.#loop.isStopping = true;
    else if (event.type === 'input.received') this.#steering.hasLeft(event.id);
    const safe = this.#write(event, derived);
    if (safe === undefined && this.#outbox.isEmpty) this.#perform(event);
    else this.#performLater(event, safe);
  }

  // Functions of their own, because a closure inside one that every event goes through costs each of them.

  #showLater(event: TurnEvent): void {
    this.#outbox.add(undefined, () => (this.#show(event), this.#advance()));
  }

  #performLater(event: TurnEvent, safe: MaybePromise<void>): void {
    if (event.type === 'turn.stop') this.#ending.limit();
    this.#outbox.add(safe, () => this.#perform(event));
  }

  /** Shows what changes nothing: deltas, progress, notices, and what is replayed. */
  #show(event: TurnEvent): void {
    if (event.replayed === true && event.type === 'turn.end') this.#finish(event);
    else this.#subscriber.next(event);
  }

  #ignore(event: TurnEvent): void {
    const isStaleStop = event.type === 'turn.stop' && event.afterStep !== undefined;
    if (!isStaleStop) {
      this.#left({
        type: 'event.ignored',
        turn: this.turn,
        at: event.at,
        event: event.type,
        reason: 'It means nothing where the turn stands.',
      });
    }
    this.#advance();
  }

  #write(event: TurnEvent, derived: boolean): MaybePromise<void> {
    if (event.type !== 'turn.start') return this.#session.write(event, derived);
    return this.#session.begin(event, this.now(), (error) => this.#cannotOpen(error));
  }

  #cannotOpen(error: unknown): void {
    this.feed({ type: 'turn.stop', ...failed(cannotOpen, error) });
  }

  /** Does what the event says, now that it is safe to. */
  #perform(event: TurnEvent): void {
    if (event.type === 'turn.end') {
      this.#finish(event);
      return;
    }
    // Known before it is shown, so that whoever sees it may answer at once.
    if (event.type === 'approval.request') this.#options.approvals.open(event.id, this);
    this.#subscriber.next(event);
    if (this.#over) return;
    this.#effects.perform(event);
    if (event.type === 'turn.start') this.#feedSession();
    else if (event.type === 'approval.answer') this.#options.approvals.close(event.id, this);
    this.#advance();
  }

  /** Feeds what comes next, unless it is on its way already. */
  #advance(): void {
    if (this.#over || !this.#outbox.isEmpty || this.#session.isOpening) return;
    if (!this.#state.stop) this.#effects.runDecided(this.#state);
    const plan = planNext(this.#state, this.#options, this.now());
    if (this.#loop.hasTakenBack) this.#wish = undefined;
    this.#loop.hasTakenBack = false;
    if (plan?.isForRequest === true && isOnItsWay(this.#wish, this.#state)) return;
    if (plan && (plan.wish !== this.#wish?.wish || plan.count !== this.#wish.count)) {
      this.#wish = plan;
      if (plan.wish === 'request') this.#loop.asked = this.#state.history;
      this.#feedAll(plan);
    }
    if (this.#state.stop) void Promise.resolve().then(() => this.#ending.limit());
  }

  #feedAll(plan: Plan): void {
    for (const event of plan.events) {
      if (plan.isFinal && event.type === 'turn.stop') this.#ending.decide(event);
      if (event.type === 'history.append') this.#fed = event.messages;
      this.enter(event.type === 'turn.end' ? this.#steering.addTo(event) : event);
    }
  }

  #feedSession(): void {
    const { opened } = this.#session;
    if (opened) {
      this.feed({
        type: 'session.loaded',
        session: this.session,
        messages: opened.messages,
        state: opened.state,
        repairs: opened.repairs,
      });
    }
  }

  /** Repeats what is safe to repeat of what was under way when the process died, unless it was cancelled meanwhile. */
  #recover(): void {
    const state = this.#state;
    const { lastWord } = this.#ending;
    state.asked = false;
    state.retrying = false;
    for (const id of state.approvals) this.#options.approvals.open(id, this);
    if (state.loaded) this.#goOn(state);
    else this.#feedSession();
    if (lastWord) this.enter(lastWord);
  }

  #goOn(state: LoopState): void {
    this.#loop.isStopping = state.stop !== undefined;
    if (state.slots.length > 0 && isDecided(state)) {
      const slots = runnable(state);
      this.#effects.runTools(state.stop ? [] : slots.filter(isRepeatable), state.step);
      this.#feedAll(
        planInterrupted(
          state,
          slots.filter((slot) => !isRepeatable(slot)),
          this.now(),
        ),
      );
    }
    this.#advance();
  }

  /** The event on which an operator failed goes no further; the others see the turn end, unless that fails too. */
  #operatorFailed(error: OperatorError, event: TurnEvent | undefined): void {
    if (this.#over || this.#state.end) return;
    if (!this.#conclusion.pipeline) {
      this.#setupFailure ??= error;
      return;
    }
    if (event?.type === 'history.append') this.#loop.hasTakenBack = true;
    this.#broken(failed(error.message, error));
  }

  /** Something that must not fail has failed: the operators see the turn end, unless that fails too. */
  #broken(lastWord: LastWord): void {
    if (this.#isBroken || this.#state.stop) this.#end(lastWord);
    else this.#endSoon(lastWord);
    this.#isBroken = true;
  }

  /** Ends the turn with its operators watching, as long as they take no longer than they may. */
  #endSoon(lastWord: LastWord): void {
    const command = { turn: this.turn, at: this.now(), ...stop(lastWord.outcome, lastWord.reason, lastWord.error) };
    this.#ending.decide(command);
    if (!this.#isReopening) this.enter(command);
  }

  /** Ends the turn without its operators. */
  #end(lastWord: LastWord, { isWritable = true, isInterrupted = false } = {}): void {
    if (this.#over) return;
    this.#over = true;
    this.#effects.stop();
    this.#state.received = [...this.#state.received, ...this.#steering.asReceived(this.turn, this.now())];
    const told: TurnEvent[] = [];
    const tell = isInterrupted ? (event: TurnEvent) => void told.push(event) : undefined;
    const written = closeAlone(
      this.#state,
      isWritable ? this.#session.writer : undefined,
      this.now(),
      lastWord,
      isInterrupted,
      tell,
    );
    this.#conclusion.closePipeline(this.#state.end);
    const conclude = (): void => {
      for (const event of told) if (event.type !== 'turn.end') this.#subscriber.next(event);
      this.#conclusion.begin(this.#state.end);
    };
    if (this.#session.isOpening) conclude();
    else this.#outbox.add(written, conclude);
    if (!this.#conclusion.hasBegun) {
      this.#session.watch((operation) => this.#cannotWrite(new SessionStuckError(this.session, operation)));
    }
  }

  /** What is not written down is not done: the turn ends, also where it was ending already. */
  #cannotWrite(error: unknown): void {
    const lastWord = failed('The journal could not be written.', error);
    this.#outbox.drop();
    if (!this.#over) {
      this.#end(lastWord, { isWritable: false });
      return;
    }
    closeAlone(this.#state, undefined, this.now(), lastWord, false);
    this.#conclusion.begin(this.#state.end);
  }

  /** The turn has ended with its operators watching. */
  #finish(end: TurnEventOf<'turn.end'>): void {
    this.#over = true;
    this.#effects.stop();
    this.#conclusion.begin(end);
  }
}
