import { invalidMember, payloads, problemWith, problemWithMember } from '../checks/event-checks.js';
import type { NewEvent, TurnEvent } from '../contract/events.js';
import { disregard, isWaiting } from './decision.js';
import type { Decision } from './handlers.js';

/** The events of a decision. A revoked proxy is one value, which is not an event. */
export const listOf = (decision: Decision): readonly unknown[] => {
  if (decision === null || decision === undefined) return [];
  try {
    return Array.isArray(decision) ? (decision as readonly unknown[]) : [decision];
  } catch {
    return [decision];
  }
};

/** Whether the decision is the event in another form with its envelope, the most common case. */
export const isSameType = (answer: unknown, event: TurnEvent): answer is TurnEvent => {
  const { type, turn, at } = (answer ?? {}) as Partial<TurnEvent>;
  return type === event.type && turn !== undefined && at !== undefined;
};

/** Whether an operator may replace an event by another one of its type. */
export const mayReplace = (next: NewEvent, event: TurnEvent): boolean =>
  !isOwnStep(next, event) && invalidMember(next, event) === undefined;

/** Whether an operator has set `afterStep`: only the runner makes stops that a later step overtakes. */
const isOwnStep = (next: NewEvent, event: TurnEvent | undefined): boolean =>
  next.type === 'turn.stop' &&
  next.afterStep !== undefined &&
  !(event?.type === 'turn.stop' && event.afterStep === next.afterStep);

/** Explains why an operator may not emit this; returns nothing if it may. */
export const problemWithDecision = (item: unknown, event: TurnEvent | undefined): string | undefined => {
  const problem = problemWith(item, (type) => (event?.type === type ? event : undefined));
  if (problem !== undefined) return problem;
  const next = item as NewEvent;
  if (isOwnStep(next, event)) return problemWithMember(next, 'afterStep');
  const isEnd = next.type === 'turn.end' && event?.type !== 'turn.end';
  return isEnd ? 'turn.end, which only the runner emits; return stop() to end the turn' : undefined;
};

/**
 * Only the runner's own stops can be answered with `turn.continue`. Any other stop may have replaced an event that
 * the turn waits for, so the turn could not continue.
 */
export const isRejectedContinue = (event: TurnEvent, next: NewEvent): boolean =>
  event.type === 'turn.stop' && event.afterStep === undefined && next.type === 'turn.continue';

/**
 * Rejects asynchronous observers, which would see events out of order and whose rejections would be unhandled, and
 * observers that return a decision such as `stop()` or `deny(event)`, which would have no effect. An observer may return
 * the event itself, as an arrow function that stores it does.
 */
export const checkObserved = (answer: unknown, event: TurnEvent): void => {
  if (typeof answer !== 'object' || answer === null) return;
  if (isWaiting(answer)) {
    disregard(answer);
    throw new TypeError('the observe handler returned a promise or an observable. Make it synchronous');
  }
  const { type, turn, at } = answer as Partial<TurnEvent>;
  if (type === undefined || !payloads.has(type)) return;
  const isChangedCopy = answer !== event && type === event.type && turn === event.turn && at === event.at;
  if (turn !== undefined && !isChangedCopy) return;
  throw new TypeError(`the observe handler returned a ${type}, which has no effect. Return it from a decide handler`);
};
