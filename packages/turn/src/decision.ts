import type { Subscribable, Unsubscribable } from 'rxjs';
import type { NewEvent, TurnEvent } from './events.js';
import type { Decision, DecisionInput } from './intercept.js';

/** An answer that is yet to come. */
export type Waiting = Extract<DecisionInput, PromiseLike<unknown> | Subscribable<unknown>>;

/** Whether a handler's answer is a promise or an observable. */
export const isWaiting = (answer: unknown): answer is Waiting =>
  typeof answer === 'object' && answer !== null && ('then' in answer || 'subscribe' in answer);

/** Who hears of an answer that was waited for. */
export interface Waiter {
  next(decision: Decision): void;
  error(error: unknown): void;
  complete(): void;
}

/** Waits for an answer. @returns how to wait no longer */
export const waitFor = (answer: Waiting, waiter: Waiter): (() => void) => {
  try {
    const subscription = 'then' in answer ? waitForPromise(answer, waiter) : answer.subscribe(waiter);
    return () => subscription.unsubscribe();
  } catch (error) {
    waiter.error(error);
    return () => undefined;
  }
};

const waitForPromise = (answer: PromiseLike<Decision>, waiter: Waiter): Unsubscribable => {
  answer.then(
    (decision) => {
      waiter.next(decision);
      waiter.complete();
    },
    (error: unknown) => waiter.error(error),
  );
  return { unsubscribe: () => undefined };
};

/** Wants nothing of an answer, not even its rejection. */
export const disregard = (answer: Waiting): void => {
  if ('then' in answer) answer.then(undefined, () => undefined);
};

/** The event with an envelope: its own, or that of the turn it is made for. */
export const stamp = (event: NewEvent, turn: string, at: number): TurnEvent =>
  event.turn !== undefined && event.at !== undefined ? (event as TurnEvent) : { turn, at, ...event };
