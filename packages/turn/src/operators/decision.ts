import { from, type Subscribable } from 'rxjs';
import type { NewEvent, TurnEvent } from '../contract/events.js';
import type { Decision, DecisionInput } from './handlers.js';

/** An asynchronous answer of a handler. */
export type Waiting = Extract<DecisionInput, PromiseLike<unknown> | Subscribable<unknown>>;

/** Whether a handler's answer is a promise or an observable. */
export const isWaiting = (answer: unknown): answer is Waiting =>
  typeof answer === 'object' && answer !== null && ('then' in answer || 'subscribe' in answer);

/** Receives the results of an asynchronous answer. */
export interface Waiter {
  next(decision: Decision): void;
  error(error: unknown): void;
  complete(): void;
}

/** Waits for an answer. @returns a function that cancels */
export const waitFor = (answer: Waiting, waiter: Waiter): (() => void) => {
  try {
    // The promise of another library may return nothing from `then`, which RxJS calls.
    const subscription = ('then' in answer ? from(Promise.resolve(answer)) : answer).subscribe(waiter);
    return () => subscription.unsubscribe();
  } catch (error) {
    waiter.error(error);
    return () => undefined;
  }
};

/** Ignores an answer, its rejection included. */
export const disregard = (answer: Waiting): void => {
  if ('then' in answer) answer.then(undefined, () => undefined);
};

/** Adds the envelope to an event: its own, or that of the turn. */
export const stamp = (event: NewEvent, turn: string, at: number): TurnEvent =>
  event.turn !== undefined && event.at !== undefined ? (event as TurnEvent) : { turn, at, ...event };
