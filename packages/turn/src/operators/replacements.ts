import type { TurnEvent, TurnEventType } from '../contract/events.js';

/**
 * The events that the loop waits for, each with the other events that may replace it.
 *
 * If an operator removed one without a substitute, the turn would wait forever. A `model.error` or `model.response`
 * that is retried still leaves, as a `model.error` with `retrying`, so that each request has an answer and each
 * attempt its usage.
 */
const substitutes: ReadonlyMap<string, readonly string[]> = new Map<TurnEventType, readonly TurnEventType[]>([
  ['turn.start', ['turn.stop']],
  ['session.loaded', ['turn.stop']],
  ['model.request', ['model.response', 'model.error', 'turn.stop']],
  ['model.response', ['model.error', 'turn.stop']],
  ['model.error', ['model.response', 'turn.stop']],
  ['tool.call', ['tool.result', 'turn.stop']],
  ['tool.result', ['turn.stop']],
  ['input.received', ['turn.stop']],
  ['approval.answer', []],
  ['history.append', ['turn.stop']],
  ['turn.continue', ['turn.stop']],
  ['turn.stop', ['turn.continue']],
  ['turn.end', []],
]);

/** Identifies what an event is about. A substitute must be about the same subject. */
const subjectOf = (event: TurnEvent): string | undefined => {
  switch (event.type) {
    case 'tool.call':
    case 'tool.result':
      return event.call.id;
    case 'input.received':
    case 'approval.answer':
      return event.id;
    case 'history.append':
      return event.delivers ? `${event.origin} that delivers ${event.delivers.join(', ')}` : event.origin;
    default:
      return undefined;
  }
};

/** Whether an event of the same type is about the same call, message or approval. */
export const isSameSubject = (event: TurnEvent, next: TurnEvent): boolean => subjectOf(event) === subjectOf(next);

/** Explains which substitute is missing among the events that replace another one; returns nothing if none is. */
export const missingSubstitute = (event: TurnEvent, events: readonly TurnEvent[]): string | undefined => {
  const others = substitutes.get(event.type);
  if (others === undefined) return undefined;
  const allowed = [event.type, ...others];
  const subject = subjectOf(event);
  const isAnswer = (next: TurnEvent): boolean =>
    allowed.includes(next.type) && (subject === undefined || next.type === 'turn.stop' || subjectOf(next) === subject);
  if (events.some(isAnswer)) return undefined;
  const name = 'call' in event ? 'call' : 'origin' in event ? 'origin' : 'id';
  return `removed ${event.type}, which the turn waits for; put one of ${allowed.join(', ')} in its place${subject === undefined ? '' : `, for the ${name} ${subject}`}`;
};
