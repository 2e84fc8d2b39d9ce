import type { TurnEvent, TurnEventType } from './events.js';

/**
 * The events that the loop waits for, each with the events that may replace it.
 *
 * If an operator removed one without a substitute, the turn would wait forever. A `model.error` or `model.response`
 * that is retried still leaves, as a `model.error` with `retrying`, so that each request has an answer and each
 * attempt its usage.
 */
const substitutes: ReadonlyMap<string, readonly string[]> = new Map<TurnEventType, readonly TurnEventType[]>([
  ['turn.start', ['turn.start', 'turn.stop']],
  ['session.loaded', ['session.loaded', 'turn.stop']],
  ['model.request', ['model.request', 'model.response', 'model.error', 'turn.stop']],
  ['model.response', ['model.response', 'model.error', 'turn.stop']],
  ['model.error', ['model.error', 'model.response', 'turn.stop']],
  ['tool.call', ['tool.call', 'tool.result', 'turn.stop']],
  ['tool.result', ['tool.result', 'turn.stop']],
  ['input.received', ['input.received', 'turn.stop']],
  ['approval.answer', ['approval.answer']],
  ['history.append', ['history.append', 'turn.stop']],
  ['turn.continue', ['turn.continue', 'turn.stop']],
  ['turn.stop', ['turn.stop', 'turn.continue']],
  ['turn.end', ['turn.end']],
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

/** What `subjectOf` returns, by type. */
const subjectNames: Partial<Record<string, string>> = {
  'tool.call': 'call',
  'tool.result': 'call',
  'input.received': 'id',
  'approval.answer': 'id',
  'history.append': 'origin',
};

/** Whether an event of the same type is about the same call, message or approval. */
export const isSameSubject = (event: TurnEvent, next: TurnEvent): boolean => subjectOf(event) === subjectOf(next);

/** Explains which substitute is missing among the events that replace another one; returns nothing if none is. */
export const missingSubstitute = (event: TurnEvent, events: readonly TurnEvent[]): string | undefined => {
  const allowed = substitutes.get(event.type);
  if (allowed === undefined) return undefined;
  const subject = subjectOf(event);
  const isAnswer = (next: TurnEvent): boolean =>
    allowed.includes(next.type) && (subject === undefined || next.type === 'turn.stop' || subjectOf(next) === subject);
  if (events.some(isAnswer)) return undefined;
  return `removed ${event.type}, which the turn waits for; put one of ${allowed.join(', ')} in its place${subject === undefined ? '' : `, for the ${subjectNames[event.type]} ${subject}`}`;
};
