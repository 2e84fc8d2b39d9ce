import type { Envelope, NewEventOf, TurnEventOf, TurnEventType, TurnEvents, TurnOutcome } from './events.js';
import type { ErrorInfo } from './error-info.js';
import type { JSONValue } from './json.js';

/**
 * Ends the turn: what runs is aborted, what is open is answered, and `turn.end` carries the outcome and the reason.
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
 * Refuses a tool call: it leaves marked, is not run, and its result (status `denied`) tells the model why.
 * A call that was refused already keeps its first reason.
 */
export const deny = (event: TurnEventOf<'tool.call'>, reason: string, by?: string): TurnEventOf<'tool.call'> =>
  event.denied ? event : { ...event, denied: by === undefined ? { reason } : { reason, by } };

/** Tells observers something; it changes nothing. */
export const notice = <Type extends TurnEventType>(type: Type, payload: TurnEvents[Type]): NewEventOf<Type> =>
  ({ ...payload, type }) as unknown as NewEventOf<Type>;

/** Goes on with another step instead of ending, after adding these messages to the history. */
export const proceed = (
  messages: TurnEvents['turn.continue']['messages'],
  reason: string,
): NewEventOf<'turn.continue'> => ({ type: 'turn.continue', messages, reason });

/** Keeps a small value for the session's next turn, under the operator's name. */
export const keep = (key: string, value: JSONValue): NewEventOf<'session.state'> => ({
  type: 'session.state',
  key,
  value,
});

/**
 * Marks a failed model call for another attempt: the runner sends the request again, with the history as it is then, through
 * the whole pipe. To wait before it or to change it, decide about that request.
 *
 * @example
 * ```ts
 * intercept('once-more', () => ({
 *   decide: { 'model.error': (event) => (event.attempt === 1 ? retry(event) : undefined) },
 * }));
 * ```
 */
export const retry = (event: TurnEventOf<'model.error'>): TurnEventOf<'model.error'> => ({ ...event, retrying: true });

/** A copy of the event that carries a value which a replay will find again, under the operator's name. */
export const annotate = <Event extends Envelope>(event: Event, name: string, value: JSONValue): Event => ({
  ...event,
  annotations: { ...event.annotations, [name]: value },
});
