import { invalidMember, payloads, problemWithMember } from '../checks/event-checks.js';
import { problemWith } from '../checks/event-shape.js';
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

/** Explains why an operator may not emit this; returns nothing if it may. */
export const problemWithDecision = (item: unknown, event: TurnEvent | undefined): string | undefined => {
  const problem = problemWith(item) ?? problemWithMembers(item as NewEvent, event);
  if (problem !== undefined) return problem;
  const isEnd = (item as NewEvent).type === 'turn.end' && event?.type !== 'turn.end';
  return isEnd ? 'turn.end, which only the runner emits; return stop() to end the turn' : undefined;
};

const problemWithMembers = (item: NewEvent, event: TurnEvent | undefined): string | undefined => {
  try {
    const name = invalidMember(item, event?.type === item.type ? event : undefined);
    return name === undefined ? undefined : problemWithMember(item, name);
  } catch {
    return `a ${item.type} with a value that throws when it is read`;
  }
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
  if (typeof type !== 'string' || !(type in payloads)) return;
  const isChangedCopy = answer !== event && type === event.type && turn === event.turn && at === event.at;
  if (turn !== undefined && !isChangedCopy) return;
  throw new TypeError(`the observe handler returned a ${type}, which has no effect. Return it from a decide handler`);
};
