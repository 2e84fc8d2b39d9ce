import { Observable, type Subscribable } from 'rxjs';
import type { NewEvent, TurnEnding, TurnEvent, TurnEventOf, TurnEventType, TurnOperator } from './events.js';
import { Segment } from './segment.js';
import { TurnLoop } from './turn-loop.js';

/**
 * What a `decide` handler answers:
 * nothing passes the event on, an event takes its place, an array puts several in its place, `null` drops it, and a
 * promise or observable of these holds it, and only it, until there is an answer. An observable may answer several
 * times, each time adding events; the held event goes with the first.
 */
export type Decision = NewEvent | readonly NewEvent[] | null | undefined | void;

/** A decision now, or later. */
export type DecisionInput = Decision | PromiseLike<Decision> | Subscribable<Decision>;

/** What a `decide` handler may use while it holds an event. */
export interface DecideContext {
  /** Aborted when the turn is over or its subscriber has left. */
  readonly signal: AbortSignal;
}

/** Handlers that learn: synchronous, without an answer, run for live and for replayed events. */
export type ObserveHandlers = { readonly [Type in TurnEventType]?: (event: TurnEventOf<Type>) => void } & {
  /** Sees every event, deltas too. */
  readonly '*'?: (event: TurnEvent) => void;
};

/** Handlers that change: run after `observe`, for live events only. Those of `model.delta` are synchronous. */
export type DecideHandlers = {
  readonly [Type in TurnEventType]?: (event: TurnEventOf<Type>, context: DecideContext) => DecisionInput;
};

/** What an operator does with the events of one turn. */
export interface Handlers {
  readonly observe?: ObserveHandlers | undefined;
  readonly decide?: DecideHandlers | undefined;
  /**
   * Called once, when the turn is over or its subscriber has left, however it ended. It is told how; outside of a harness
   * nobody knows.
   */
  readonly finalize?: ((ending: TurnEnding | undefined) => void) | undefined;
}

/** What an operator may use besides its handlers. */
export interface OperatorContext {
  /** Inserts an event at the operator's place: later operators and the runner see it. For timers and other callbacks. */
  emit(event: NewEvent): void;
  /** The time by the turn's scheduler, as milliseconds since 1970. */
  now(): number;
  /**
   * The request once more, as the attempt after the one that it answers, with the history as it is now: an operator further
   * down may have replaced it since (compaction, a hand-off), which this one does not see.
   *
   * @example
   * ```ts
   * intercept('once-more', (operator) => {
   *   let request: TurnEventOf<'model.request'> | undefined;
   *   return {
   *     observe: { 'model.request': (event) => void (request = event) },
   *     decide: { 'model.error': (event) => (request && event.attempt === 1 ? [{ ...event, retrying: true }, operator.askAgain(request, event)] : undefined) },
   *   };
   * });
   * ```
   */
  askAgain(request: TurnEventOf<'model.request'>, answered: { readonly attempt: number }): TurnEventOf<'model.request'>;
  /**
   * Calls back once after so many milliseconds by the turn's scheduler, unless the turn is over; returns how to cancel it.
   * With `Infinity` it never does.
   */
  after(delayMs: number, callback: () => void): () => void;
}

/** How `harness` knows the operators that it can fuse, and how `describePipeline` knows their names. */
export const interceptor: unique symbol = Symbol.for('@h/turn/interceptor');

/** An operator that was made by {@link intercept}. */
export interface Interceptor extends TurnOperator {
  readonly [interceptor]: InterceptorSetup;
}

export interface InterceptorSetup {
  readonly name: string;
  readonly setup: (context: OperatorContext) => Handlers;
}

/**
 * Makes an operator of a few handlers: `observe` learns, `decide` changes.
 *
 * Events without a handler go straight through. What `setup` declares is fresh for every subscription, so for every
 * turn. A handler that throws, rejects or answers with something that is not allowed ends the turn with an
 * {@link OperatorError} that names the operator.
 *
 * @example
 * ```ts
 * const shout = () =>
 *   intercept('shout', () => ({
 *     decide: {
 *       'model.delta': (event) =>
 *         event.delta.type === 'text'
 *           ? { ...event, delta: { ...event.delta, text: event.delta.text.toUpperCase() } }
 *           : undefined,
 *     },
 *   }));
 * ```
 */
export const intercept = (name: string, setup: (context: OperatorContext) => Handlers): Interceptor => {
  const own: InterceptorSetup = { name, setup };
  const operator: TurnOperator = (source) =>
    new Observable<TurnEvent>((subscriber) => {
      const loop = new TurnLoop();
      const segment = new Segment([own], loop, {
        next: (event) => subscriber.next(event),
        failed: (error) => subscriber.error(error),
      });
      subscriber.add(() => segment.close());
      if (subscriber.closed) return;
      subscriber.add(
        source.subscribe({
          next: (event) => segment.feed(event),
          error: (error: unknown) => subscriber.error(error),
          complete: () => segment.whenSettled(() => subscriber.complete()),
        }),
      );
    });
  return Object.assign(operator, { [interceptor]: own });
};
