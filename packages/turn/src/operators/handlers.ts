import type { Subscribable } from 'rxjs';
import type { NewEvent, TurnEnding, TurnEvent, TurnEventOf, TurnEventType, TurnOperator } from '../contract/events.js';

/**
 * What a `decide` handler may return.
 *
 * `undefined` passes the event on, an event replaces it, an array replaces it with several, and `null` drops it. A
 * promise or an observable of these holds this event only, until it settles. Each value of an observable adds events;
 * the first replaces the held event.
 */
export type Decision = NewEvent | readonly NewEvent[] | null | undefined | void;

/** A decision, now or later. */
export type DecisionInput = Decision | PromiseLike<Decision> | Subscribable<Decision>;

/** The context of a `decide` handler that holds an event. */
export interface DecideContext {
  /** Aborted when the turn ends or its subscriber leaves. */
  readonly signal: AbortSignal;
}

/** Handlers that observe events. They are synchronous and return nothing. */
export type ObserveHandlers = { readonly [Type in TurnEventType]?: (event: TurnEventOf<Type>) => void } & {
  /** Runs for every event, deltas included, before the handler of its type. */
  readonly '*'?: (event: TurnEvent) => void;
};

/** Handlers that change events. The handler of `model.delta` is synchronous. */
export type DecideHandlers = {
  readonly [Type in TurnEventType]?: (event: TurnEventOf<Type>, context: DecideContext) => DecisionInput;
} & {
  /** Runs for events whose type has no handler here, such as the notices of all operators. Also runs for deltas. */
  readonly '*'?: (event: TurnEvent, context: DecideContext) => DecisionInput;
};

/**
 * The handlers of an operator for one turn.
 *
 * Contract:
 * - `decide` runs while an event passes the operator's place in the pipe. Events that it adds pass the operators
 *   behind it.
 * - `observe` runs after an event has left the whole pipe and is part of the turn: in every operator, in one order,
 *   regardless of which operator made the event. When a turn is resumed, it also runs for the events of its journal;
 *   the events look the same.
 * - State that only `observe` writes is therefore the same in a resumed turn. State that `decide` writes is lost in a
 *   crash: use it only for what is pending until `observe` sees its outcome.
 */
export interface Handlers {
  readonly observe?: ObserveHandlers | undefined;
  readonly decide?: DecideHandlers | undefined;
  /** Runs once when the turn becomes live: at its start, or after its journal was replayed. Start timers here. */
  readonly start?: (() => void) | undefined;
  /** Runs once when the turn has ended or its subscriber has left. Outside a harness the ending may be unknown. */
  readonly finalize?: ((ending: TurnEnding | undefined) => void) | undefined;
}

/** The handlers of {@link SharedHandlers} that observe events. They are synchronous and return nothing. */
export type SharedObserveHandlers<State> = {
  readonly [Type in TurnEventType]?: (state: State, event: TurnEventOf<Type>) => void;
} & {
  /** Runs for every event, deltas included, before the handler of its type. */
  readonly '*'?: (state: State, event: TurnEvent) => void;
};

/** The handlers of {@link SharedHandlers} that change events. The handler of `model.delta` is synchronous. */
export type SharedDecideHandlers<State> = {
  readonly [Type in TurnEventType]?: (state: State, event: TurnEventOf<Type>, context: DecideContext) => DecisionInput;
} & {
  /** Runs for events whose type has no handler here, such as the notices of all operators. Also runs for deltas. */
  readonly '*'?: (state: State, event: TurnEvent, context: DecideContext) => DecisionInput;
};

/**
 * The handlers of an operator, shared by all turns; a turn has only its state, which each handler receives.
 *
 * The contract is that of {@link Handlers}. A turn that waits takes less memory than with handlers of its own.
 */
export interface SharedHandlers<State> {
  readonly observe?: SharedObserveHandlers<State> | undefined;
  readonly decide?: SharedDecideHandlers<State> | undefined;
  /** Runs once when the turn becomes live: at its start, or after its journal was replayed. Start timers here. */
  readonly start?: ((state: State) => void) | undefined;
  /** Runs once when the turn has ended or its subscriber has left. Outside a harness the ending may be unknown. */
  readonly finalize?: ((state: State, ending: TurnEnding | undefined) => void) | undefined;
}

/** The second argument of `intercept` for an operator whose turns share their handlers. */
export interface SharedSetup<State> extends SharedHandlers<State> {
  /** Creates the state of a turn. */
  readonly setup: (context: OperatorContext) => State;
}

/** The context of an operator. */
export interface OperatorContext {
  /** Inserts an event behind the operator's place, from timers and other callbacks. */
  emit(event: NewEvent): void;
  /** The time of the turn's scheduler, in milliseconds since 1970. */
  now(): number;
  /**
   * Calls back once after `delayMs` milliseconds of the turn's scheduler, unless the turn ends first. `Infinity`
   * never fires.
   *
   * @returns a function that cancels the timer
   */
  after(delayMs: number, callback: () => void): () => void;
  /**
   * Announces when this operator will end the turn, in milliseconds since 1970. A later call replaces the time;
   * `Infinity` withdraws it. Only an announcement: the operator still ends the turn. It is not journaled, so call it in
   * `start` or later.
   */
  setDeadline(at: number): void;
  /**
   * The time that is left until the earliest deadline of all operators, in milliseconds; 0 after it, `Infinity` without
   * one. Work inside a turn (a summary, a reflection, a hook) takes at most this long.
   */
  timeLeft(): number;
}

/** The place of an operator in a pipe. `describePipeline` checks it. */
export interface InterceptorPlace {
  /** Names of operators that belong before this one. */
  readonly after?: readonly string[] | undefined;
  /** Names of operators that belong behind this one. */
  readonly before?: readonly string[] | undefined;
}

/** Marks operators made by {@link intercept}: `harness` fuses them and `describePipeline` prints their names. */
export const interceptor: unique symbol = Symbol.for('@h/turn/interceptor');

/** An operator made by {@link intercept}. */
export interface Interceptor extends TurnOperator {
  readonly [interceptor]: InterceptorSetup;
}

export interface InterceptorSetup {
  readonly name: string;
  /** Creates the handlers of a turn, or its state if the turns share their handlers. */
  readonly setup: (context: OperatorContext) => unknown;
  readonly shared: SharedHandlers<unknown> | undefined;
  readonly place: InterceptorPlace;
}
