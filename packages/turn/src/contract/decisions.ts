import type { Envelope, NewEventOf, TurnEventOf, TurnEventType, TurnEvents, TurnOutcome } from './events.js';
import type { ErrorInfo } from './error-info.js';
import type { JSONValue } from './json.js';

/**
 * Ends the turn: aborts running work, answers open calls, and passes the outcome and the reason to `turn.end`.
 *
 * @example
 * ```ts
 * intercept('no-weekends', () => ({
 *   decide: { 'turn.start': (event) => (new Date(event.at).getUTCDay() === 0 ? stop('blocked', 'It is Sunday.') : undefined) },
 * }));
 * ```
 */
export const stop = (outcome: TurnOutcome, reason?: string, error?: ErrorInfo): NewEventOf<'turn.stop'> => ({
  type: 'turn.stop',
  outcome,
  ...(reason !== undefined && { reason }),
  ...(error !== undefined && { error }),
});

/**
 * Denies a tool call: the call does not run, and its result (status `denied`) gives the model the reason.
 * A call that is already denied keeps its first reason.
 */
export const deny = (event: TurnEventOf<'tool.call'>, reason: string, by?: string): TurnEventOf<'tool.call'> =>
  event.denied ? event : { ...event, denied: by === undefined ? { reason } : { reason, by } };

/** Emits a notice to observers. It does not change the turn. */
export const notice = <Type extends TurnEventType>(type: Type, payload: TurnEvents[Type]): NewEventOf<Type> =>
  ({ ...payload, type }) as unknown as NewEventOf<Type>;

/** Continues with another step instead of ending, after adding these messages to the history. */
export const proceed = (
  messages: TurnEvents['turn.continue']['messages'],
  reason: string,
): NewEventOf<'turn.continue'> => ({ type: 'turn.continue', messages, reason });

/** Stores a small value for the next turn of the session, under the operator's name. */
export const keep = (key: string, value: JSONValue): NewEventOf<'session.state'> => ({
  type: 'session.state',
  key,
  value,
});

/**
 * Marks a failed model call for a retry: the runner sends the request again, with the current history, through the
 * whole pipe. To delay or change it, decide that request.
 *
 * @example
 * ```ts
 * intercept('once-more', () => ({
 *   decide: { 'model.error': (event) => (event.attempt === 1 ? retry(event) : undefined) },
 * }));
 * ```
 */
export const retry = (event: TurnEventOf<'model.error'>): TurnEventOf<'model.error'> => ({ ...event, retrying: true });

/** Returns a copy of the event with a value that is journaled with it, under the operator's name. */
export const annotate = <Event extends Envelope>(event: Event, name: string, value: JSONValue): Event => ({
  ...event,
  annotations: { ...event.annotations, [name]: value },
});
