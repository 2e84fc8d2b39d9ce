import type { SchedulerLike, Subscriber, Subscription } from 'rxjs';
import { stop } from './decisions.js';
import { toErrorInfo, type OperatorError } from './errors.js';
import type { NewEvent, NewEventOf, TurnEvent, TurnEventOf, TurnState } from './events.js';
import { isDerived, isRecorded } from './journal.js';
import { accepts, fold, initialState, isDecided, runnable, type CallSlot, type LoopState } from './loop-state.js';
import type { Message, UserMessage } from './messages.js';
import { ModelCall, type EffectHost } from './model-call.js';
import type { ModelDriver } from './model.js';
import { closeAlone, openForResume, openForTurn, type LastWord, type Opened } from './opening.js';
import { Outbox } from './outbox.js';
import { connectPipeline, type Pipeline, type PipelineOperator } from './pipeline.js';
import { planInterrupted, planNext, type Plan, type PlanContext } from './plan.js';
import type { SessionGate, SessionHolder } from './session-gate.js';
import type { MaybePromise, SessionStore } from './session-store.js';
import { andThen, isPromise, type SessionWriter } from './session-writer.js';
import { ToolBatch } from './tool-batch.js';
import type { ToolDriver } from './tool.js';
import { TurnLoop } from './turn-loop.js';

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
  readonly #sessions: SessionStore;
  readonly #outbox = new Outbox((error) => this.#end({ outcome: 'error', error: toErrorInfo(error), reason: 'The journal could not be written.' }, false));
  /** The messages that the runner itself has asked to append last. */
  #fed: readonly Message[] | undefined;
  readonly #batches = new Set<ToolBatch>();
  readonly #onBatchEnd = (batch: ToolBatch): boolean => this.#batches.delete(batch);
  readonly #steering = new Map<string, UserMessage>();
  #state: LoopState;
  #writer: SessionWriter | undefined;
  #opened: Opened | undefined;
  #opening: MaybePromise<void> = undefined;
  #modelCall: ModelCall | undefined;
  #ranStep = 0;
  #wish: string | undefined;
  #isBroken = false;
  #setupFailure: OperatorError | undefined;
  #grace: Subscription | undefined;
  #over = false;
  #closed: Promise<void> | undefined;
  #onClosed: (() => void) | undefined;

  constructor(turn: string, options: RunnerOptions, subscriber: Subscriber<TurnEvent>) {
    this.#options = options;
    this.#subscriber = subscriber;
    this.#state = initialState(turn);
    this.#sessions = options.gate.for(this);
    this.#loop = new TurnLoop(options.scheduler);
    this.#loop.turn = turn;
  }

  get turn(): string {
    return this.#state.turn;
  }

  get usedIds(): Set<string> {
    return this.#opened?.usedIds ?? new Set();
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
    return this.#batches.size > 0 ? 'waiting-for-tool' : 'running';
  }

  get isEnding(): boolean {
    return this.#over || this.#state.stop !== undefined;
  }

  whenClosed(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#onClosed = resolve;
    });
    return this.#closed;
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
    this.#open(
      () => openForResume(this.#sessions, this.turn),
      (opened) => {
        this.#state = opened.loop;
        for (const event of opened.recorded) this.#pipeline?.feed({ ...event, replayed: true });
        if (this.#state.end) return undefined;
        for (const id of this.#state.approvals) this.#options.approvals.set(id, this);
        this.#recover();
        return undefined;
      },
    );
  }

  /** Lets a fact or command enter at the top. */
  feed(event: NewEvent): void {
    this.enter({ turn: this.turn, at: this.now(), ...event } as TurnEvent);
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
      error: (error) => this.#end({ outcome: 'error', error: toErrorInfo(error), reason: 'A native operator in the pipe failed.' }),
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
    if (event.type === 'turn.start') {
      return this.#open(
        () => openForTurn(this.#sessions, event.session, this.now()),
        (opened) => opened.writer.write(event),
      );
    }
    const derived = isDerived(event, this.#state, this.#fed);
    if (isPromise(this.#opening)) return this.#opening.then(() => this.#writer?.write(event, derived));
    return this.#writer?.write(event, derived);
  }

  /** Opens the session, now or later. A session that cannot be opened ends the turn. */
  #open<What extends Opened>(open: () => MaybePromise<What>, then: (opened: What) => MaybePromise<void>): MaybePromise<void> {
    const take = (opened: What): MaybePromise<void> => {
      this.#opening = undefined;
      this.#writer = opened.writer;
      this.#opened = opened;
      if (this.#over) return this.#letGo();
      return then(opened);
    };
    const fail = (error: unknown): void => {
      this.#opening = undefined;
      if (this.#over) this.#letGo();
      else this.feed(stop('error', 'The session could not be opened.', toErrorInfo(error)));
    };
    try {
      const taken = andThen(open(), take);
      if (!isPromise(taken)) return taken;
      this.#opening = taken.then(undefined, fail);
      return this.#opening;
    } catch (error) {
      return fail(error);
    }
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
        this.#modelCall = new ModelCall(this.#options.model, event, this).start();
        break;
      case 'model.response':
      case 'model.error':
        this.#modelCall?.stop();
        break;
      case 'input.received':
        this.#steering.delete(event.id);
        for (const batch of this.#batches) batch.skip();
        break;
      case 'approval.request':
        this.#options.approvals.set(event.id, this);
        break;
      case 'approval.answer':
        this.#options.approvals.delete(event.id);
        break;
      case 'turn.stop':
        this.#stopEffects();
        break;
      default:
    }
    this.#advance();
  }

  /** Feeds what comes next, unless it is on its way already. */
  #advance(): void {
    if (this.#over || !this.#outbox.isEmpty || isPromise(this.#opening)) return;
    this.#runCalls();
    const plan = planNext(this.#state, this.#options, this.now());
    if (plan && plan.label !== this.#wish) {
      this.#wish = plan.label;
      this.#feedAll(plan);
    }
    if (this.#state.stop && !this.#grace) queueMicrotask(() => this.#limitClosing());
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
    if (slots.length === 0) return;
    const calls = slots.map(({ call }) => call);
    this.#batches.add(new ToolBatch(this.#options.tools, calls, this.#state.step, this, this.#onBatchEnd).start());
  }

  #feedSession(): void {
    const opened = this.#opened;
    if (!opened) return;
    const { messages, state, repairs } = opened;
    this.feed({ type: 'session.loaded', session: this.session, messages, state, repairs });
  }

  /** Repeats what is safe to repeat of what was under way when the process died. */
  #recover(): void {
    const state = this.#state;
    state.asked = false;
    state.retrying = false;
    if (!state.loaded) {
      this.#feedSession();
      return;
    }
    if (state.slots.length > 0 && isDecided(state)) {
      this.#ranStep = state.step;
      const open = runnable(state);
      const isSafe = ({ call }: CallSlot): boolean => call.idempotent === true || call.effect === 'read-only';
      this.#feedAll(planInterrupted(state, open.filter((slot) => !isSafe(slot)), this.now()));
      if (!state.stop) this.#runBatch(open.filter(isSafe));
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
    this.#stopEffects();
    this.#pipeline?.close();
    const written = closeAlone(this.#state, isWritable ? this.#writer : undefined, this.now(), lastWord, false);
    const { end } = this.#state;
    this.#outbox.add(written, () => this.#letGo(end));
  }

  /** The turn has ended with its operators watching. */
  #finish(end: TurnEventOf<'turn.end'>): void {
    this.#over = true;
    this.#stopEffects();
    this.#letGo(end);
  }

  /** Lets the session go, then tells the subscriber. */
  #letGo(end?: TurnEventOf<'turn.end'>): void {
    if (isPromise(this.#opening)) {
      this.#conclude(end);
      return;
    }
    const conclude = (): void => {
      this.#options.gate.release(this.session, this);
      this.#conclude(end);
    };
    let closed: MaybePromise<void>;
    try {
      closed = this.#writer?.close();
    } catch {
      closed = undefined;
    }
    if (isPromise(closed)) closed.then(conclude, conclude);
    else conclude();
  }

  #conclude(end: TurnEventOf<'turn.end'> | undefined): void {
    for (const [id, run] of this.#options.approvals) if (run === this) this.#options.approvals.delete(id);
    this.#onClosed?.();
    if (end) this.#subscriber.next(end);
    this.#pipeline?.close();
    this.#subscriber.complete();
  }

  #stopEffects(): void {
    this.#grace?.unsubscribe();
    this.#modelCall?.stop();
    for (const batch of this.#batches) batch.stop();
    this.#batches.clear();
  }
}
