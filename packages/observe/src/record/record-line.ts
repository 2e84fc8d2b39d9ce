import { cutText } from '@h/bounded';
import type { TurnEvent } from '@h/turn';
import { plainData, type TextRules } from '../plain-data.js';

/** Members of a recorded line in addition to the event. */
export interface LineHead {
  /** Sequence number in the recording of the turn, from 0. */
  readonly seq: number;
  /** Time in milliseconds, by a monotonic clock. */
  readonly ms: number;
  /** Number of deltas of the answer that this event ends. */
  readonly deltas?: number | undefined;
  /** Time of the first delta, by the same clock. */
  readonly firstDeltaMs?: number | undefined;
}

/** Formats an event as a line of a recording, without secrets and history. */
export const recordLine = (head: LineHead, event: RecordedEvent, rules: TextRules): string => {
  const recorded = rules.content
    ? event
    : { type: event.type, turn: event.turn, at: event.at, ...plainData(event, rules) };
  return JSON.stringify({ v: 1, ...head, event: recorded }, (key, value: unknown) => recordedValue(key, value, rules));
};

/** An event as it is recorded. */
export type RecordedEvent = Pick<TurnEvent, 'type' | 'turn' | 'at'>;

/**
 * Returns the event with counts in place of the history, of the tools and of a system prompt that was recorded before.
 */
export const withoutHistory = (event: TurnEvent): RecordedEvent => {
  if (event.type === 'session.loaded') {
    const loaded = { ...event, messages: event.messages.length, state: Object.keys(event.state) };
    return loaded;
  }
  if (event.type !== 'model.request') return event;
  const tools = event.tools.map(({ name }) => name);
  // Most requests repeat the system prompt.
  const system = event.step === 1 && event.attempt === 1 ? event.system : event.system.length;
  const request = { ...event, messages: event.messages.length, tools, system };
  return request;
};

const recordedValue = (key: string, value: unknown, { maxContentChars, session }: TextRules): unknown => {
  if (typeof value === 'string') return key === 'session' ? session(value) : cutText(value, maxContentChars);
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  return typeof value === 'bigint' ? String(value) : value;
};
