import type { SchedulerLike, Subscriber, Subscription } from 'rxjs';
import { stop } from './decisions.js';
import { toErrorInfo, type OperatorError } from './errors.js';
import type { NewEvent, NewEventOf, TurnEvent, TurnEventOf, TurnState } from './events.js';
import { isDerived, isRecorded } from './journal.js';
import { accepts, fold, initialState, isDecided, isRepeatable, runnable, type CallSlot, type LoopState } from './loop-state.js';
import type { Message, UserMessage } from './messages.js';
import type { EffectHost } from './model-call.js';
import type { ModelDriver } from './model.js';
import { closeAlone, openForResume, openForTurn, type LastWord } from './opening.js';
import { Outbox } from './outbox.js';
import { connectPipeline, type Pipeline, type PipelineOperator } from './pipeline.js';
import { planInterrupted, planNext, type Plan, type PlanContext } from './plan.js';
import type { SessionGate, SessionHolder } from './session-gate.js';
import type { MaybePromise } from './session-store.js';
import { isPromise } from './session-writer.js';
import type { ToolDriver } from './tool.js';
import { TurnEffects } from './turn-effects.js';
import { TurnLoop } from './turn-loop.js';
import { TurnSession } from './turn-session.js';

/** What all turns of a harness share. */
export interface RunnerOptions extends PlanContext {
  readonly model: ModelDriver;
  readonly tools: ToolDriver | undefined;
  readonly gate: SessionGate<TurnRun>;
  readonly operators: readonly PipelineOperator[];
  readonly scheduler: SchedulerLike;
  readonly closeGraceMs: number;
  /** Open requests for approval, by id, and the turns that wait for them. */
  readonly approvals: Map<string, TurnRun>;
}

/**
 * One turn at work: feeds facts at the top of the pipeline, performs what leaves it at the bottom.
 *
 * An event that has left is written down, added to the state, shown to the subscriber and performed, in this order.
 * What comes next is then read off the state ({@link planNext}).
 */
export class TurnRun implements SessionHolder, EffectHost {
  readonly #options: RunnerOptions;
  readonly #subscriber: Subscriber<TurnEvent>;
  readonly #loop: TurnLoop;
  #pipeline: Pipeline | undefined;
  readonly #session: TurnSession<TurnRun>;
  readonly #effects: TurnEffects;
  readonly #outbox = new Outbox((error) => this.#end(failed('The journal could not be written.', error), false));
  /** The messages that the runner itself has asked to append last. */
  #fed: readonly Message[] | undefined;
  readonly #steering = new Map<string, UserMessage>();
  #state: LoopState;
  #ranStep = 0;
  #wish: string | undefined;
  #isBroken = false;
  #setupFailure: OperatorError | undefined;
  #grace: Subscription | undefined;
  #over = false;

  constructor(turn: string, options: RunnerOptions, subscriber: Subscriber<TurnEvent>) {
    this.#options = options;
    this.#subscriber = subscriber;
    this.#state = initialState(turn);
    this.#session = new TurnSession<TurnRun>(options.gate, this);
    this.#effects = new TurnEffects(options.model, options.tools, this);
    this.#loop = new TurnLoop(options.scheduler);
    this.#loop.turn = turn;
  }

  get turn(): string {
    return this.#state.turn;
  }

  get usedIds(): Set<string> {
    return this.#session.opened?.usedIds ?? new Set();
  }

  get session(): string {
    return this.#state.session;
  }

  get step(): number {
    return this.#state.step;
  }

  get phase(): TurnState {
    if (!this.#state.loaded) return 'queued';
    if (this.#state.approvals.size > 0) return 'waiting-for-input';
    return this.#effects.areToolsRunning ? 'waiting-for-tool' : 'running';
  }

  get isEnding(): boolean {
    return this.#over || this.#state.stop !== undefined;
  }

  /** Asks for a new turn. */
  begin(start: NewEventOf<'turn.start'>): void {
    this.#state.session = start.session;
    this.#state.input = start.input;
    if (this.#connect()) this.feed(start);
  }

  /** Goes on with a turn where its journal ends. */
  resume(): void {
    if (!this.#connect()) return;
    void this.#session.open(
      (sessions) => openForResume(sessions, this.turn),
      ({ loop, recorded }) => {
        this.#state = loop;
        for (const event of recorded) this.#pipeline?.feed({ ...event, replayed: true });
        if (!loop.end) this.#recover();
      },
      (error) => this.#cannotOpen(error),
    );
  }

  /** Lets a fact or command enter at the top. */
  feed(event: NewEvent): void {
    this.enter({ turn: this.turn, at: this.now(), ...event });
  }

  /** Lets an event that is complete enter at the top. */
  enter(event: TurnEvent): void {
    if (!this.#over) this.#pipeline?.feed(event);
  }

  now(): number {
    return this.#options.scheduler.now();
  }

  /** Takes in a message for the next step boundary; `false` when the turn has none to come. */
  steer(id: string, message: UserMessage): boolean {
    if (this.isEnding || !this.#state.loaded) return false;
    this.#steering.set(id, message);
    this.feed({ type: 'input.received', id, message });
    return true;
  }

  /** Ends the turn from outside, with its operators watching. */
  cancel(reason: string): void {
    this.feed(stop('cancelled', reason));
  }

  /** The subscriber has left: ends the turn at once, without its operators. */
  abandon(): void {
    this.#end({ outcome: 'cancelled', reason: 'The subscriber left.' });
  }

  /** Connects the operators; those that cannot even be set up end the turn before it begins. */
  #connect(): boolean {
    this.#pipeline = connectPipeline(this.#options.operators, this.#loop, {
      next: (event) => this.#left(event),
      failed: (error, event) => this.#operatorFailed(error, event),
      error: (error) => this.#end(failed('A native operator in the pipe failed.', error)),
      complete: () => this.#end({ outcome: 'cancelled', reason: 'An operator in the pipe completed the stream.' }),
    });
    if (this.#over) this.#pipeline.close();
    else if (this.#setupFailure) this.#operatorFailed(this.#setupFailure, undefined);
    else return true;
    return false;
  }

  /** An event has left the pipeline: it is written down, added to the state, and performed once it is safe. */
  #left(event: TurnEvent): void {
    if (this.#over) return;
    if (event.replayed === true || !isRecorded(event.type)) {
      if (this.#outbox.isEmpty) this.#show(event);
      else this.#outbox.add(undefined, () => this.#show(event));
      return;
    }
    if (!accepts(this.#state, event)) {
      this.#ignore(event);
      return;
    }
    const safe = this.#write(event);
    fold(this.#state, event);
    if (safe === undefined && this.#outbox.isEmpty) this.#perform(event);
    else this.#outbox.add(safe, () => this.#perform(event));
  }

  /** Shows what changes nothing: deltas, progress, notices, and what is replayed. */
  #show(event: TurnEvent): void {
    if (event.replayed === true && event.type === 'turn.end') this.#finish(event);
    else this.#subscriber.next(event);
  }

  #ignore(event: TurnEvent): void {
    const isStaleStop = event.type === 'turn.stop' && event.afterStep !== undefined;
    if (!isStaleStop) {
      const ignored = { event: event.type, reason: 'It means nothing where the turn stands.' };
      this.#subscriber.next({ type: 'event.ignored', turn: this.turn, at: event.at, ...ignored });
    }
    this.#advance();
  }

  #write(event: TurnEvent): MaybePromise<void> {
    if (event.type !== 'turn.start') return this.#session.write(event, isDerived(event, this.#state, this.#fed));
    return this.#session.open(
      (sessions) => openForTurn(sessions, event.session, this.now()),
      ({ writer }) => writer.write(event),
      (error) => this.#cannotOpen(error),
    );
  }

  #cannotOpen(error: unknown): void {
    this.feed({ type: 'turn.stop', ...failed('The session could not be opened.', error) });
  }

  /** Does what the event says, now that it is safe to. */
  #perform(event: TurnEvent): void {
    if (event.type === 'turn.end') {
      this.#finish(event);
      return;
    }
    this.#subscriber.next(event);
    if (this.#over) return;
    switch (event.type) {
      case 'turn.start':
        this.#feedSession();
        break;
      case 'model.request':
        this.#effects.callModel(event);
        break;
      case 'model.response':
      case 'model.error':
        this.#effects.endModelCall();
        break;
      case 'input.received':
        this.#steering.delete(event.id);
        this.#effects.skipTools();
        break;
      case 'approval.request':
        this.#options.approvals.set(event.id, this);
        break;
      case 'approval.answer':
        this.#options.approvals.delete(event.id);
        break;
      case 'turn.stop':
        this.#effects.stop();
        break;
      default:
    }
    this.#advance();
  }

  /** Feeds what comes next, unless it is on its way already. */
  #advance(): void {
    if (this.#over || !this.#outbox.isEmpty || this.#session.isOpening) return;
    this.#runCalls();
    const plan = planNext(this.#state, this.#options, this.now());
    if (plan && plan.label !== this.#wish) {
      this.#wish = plan.label;
      this.#feedAll(plan);
    }
    if (this.#state.stop && !this.#grace) void Promise.resolve().then(() => this.#limitClosing());
  }

  #feedAll(plan: Plan): void {
    for (const event of plan.events) {
      if (event.type === 'history.append') this.#fed = event.messages;
      this.enter(event.type === 'turn.end' ? this.#withUndelivered(event) : event);
    }
  }

  /** Once every call of the step is decided, those that may run go to the tool driver together. */
  #runCalls(): void {
    const { step, stop: stopped } = this.#state;
    if (stopped || this.#ranStep === step || this.#wish !== `calls:${step}` || !isDecided(this.#state)) return;
    this.#ranStep = step;
    this.#runBatch(runnable(this.#state));
  }

  #runBatch(slots: readonly CallSlot[]): void {
    this.#effects.runTools(slots.map(({ call }) => call), this.#state.step);
  }

  #feedSession(): void {
    const { opened } = this.#session;
    if (!opened) return;
    const { messages, state, repairs } = opened;
    this.feed({ type: 'session.loaded', session: this.session, messages, state, repairs });
  }

  /** Repeats what is safe to repeat of what was under way when the process died. */
  #recover(): void {
    const state = this.#state;
    state.asked = false;
    state.retrying = false;
    for (const id of state.approvals) this.#options.approvals.set(id, this);
    if (!state.loaded) {
      this.#feedSession();
      return;
    }
    if (state.slots.length > 0 && isDecided(state)) {
      this.#ranStep = state.step;
      const open = runnable(state);
      this.#feedAll(planInterrupted(state, open.filter((slot) => !isRepeatable(slot)), this.now()));
      if (!state.stop) this.#runBatch(open.filter(isRepeatable));
    }
    this.#advance();
  }

  #withUndelivered(end: TurnEventOf<'turn.end'>): TurnEventOf<'turn.end'> {
    if (this.#steering.size === 0) return end;
    return { ...end, undelivered: [...(end.undelivered ?? []), ...this.#steering.values()] };
  }

  /** The event on which an operator failed goes no further; the others see the turn end, unless that fails too. */
  #operatorFailed(error: OperatorError, event: TurnEvent | undefined): void {
    if (this.#over) return;
    if (!this.#pipeline) {
      this.#setupFailure ??= error;
      return;
    }
    const lastWord = stop('error', error.message, toErrorInfo(error));
    if (this.#isBroken || this.#state.stop || event?.type === 'turn.end') {
      this.#end(lastWord);
      return;
    }
    this.#isBroken = true;
    this.feed(lastWord);
  }

  /** Operators that hold an event have so long to let it go when the turn is ending. */
  #limitClosing(): void {
    if (this.#over || this.#grace) return;
    const end = (): void => this.#end({ outcome: 'error', reason: 'An operator held back the end of the turn.' });
    this.#grace = this.#options.scheduler.schedule(end, this.#options.closeGraceMs);
  }

  /** Ends the turn without its operators. */
  #end(lastWord: LastWord, isWritable = true): void {
    if (this.#over) return;
    this.#over = true;
    this.#effects.stop();
    this.#pipeline?.close();
    const inFlight = [...this.#steering].map(([id, message]) => ({ type: 'input.received', turn: this.turn, at: this.now(), id, message }) as const);
    this.#state.received = [...this.#state.received, ...inFlight];
    const written = closeAlone(this.#state, isWritable ? this.#session.writer : undefined, this.now(), lastWord, false);
    const { end } = this.#state;
    this.#outbox.add(written, () => this.#letGo(end));
  }

  /** The turn has ended with its operators watching. */
  #finish(end: TurnEventOf<'turn.end'>): void {
    this.#over = true;
    this.#effects.stop();
    this.#letGo(end);
  }

  /** Lets the session go, then tells the subscriber. */
  #letGo(end: TurnEventOf<'turn.end'> | undefined): void {
    this.#grace?.unsubscribe();
    const letGo = this.#session.letGo();
    if (isPromise(letGo)) void letGo.then(() => this.#conclude(end));
    else this.#conclude(end);
  }

  #conclude(end: TurnEventOf<'turn.end'> | undefined): void {
    for (const [id, run] of this.#options.approvals) if (run === this) this.#options.approvals.delete(id);
    if (end) this.#subscriber.next(end);
    this.#pipeline?.close();
    this.#subscriber.complete();
  }
}

const failed = (reason: string, error: unknown): LastWord => ({ outcome: 'error', reason, error: toErrorInfo(error) });
