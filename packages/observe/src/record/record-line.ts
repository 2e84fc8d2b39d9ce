import { cutText } from '@h/bounded';
import type { TurnEvent } from '@h/turn';
import { plainData, type TextRules } from '../plain-data.js';

/** What a line of a recording says besides the event. */
export interface LineHead {
  /** Place in the recording of the turn, from 0. */
  readonly seq: number;
  /** Milliseconds by a clock that never goes back. */
  readonly ms: number;
  /** Pieces of the answer that this event ends. */
  readonly deltas?: number | undefined;
  /** When the first of them came, by the same clock. */
  readonly firstDeltaMs?: number | undefined;
}

/** Formats an event as a line of a recording, without the history, whose entries are in earlier events. */
export const recordLine = (head: LineHead, event: TurnEvent, rules: TextRules): string => {
  const slim = withoutHistory(event);
  const recorded = rules.content
    ? slim
    : { type: event.type, turn: event.turn, at: event.at, ...plainData(slim, rules) };
  return JSON.stringify({ v: 1, ...head, event: recorded }, (key, value: unknown) => recordedValue(key, value, rules));
};

const withoutHistory = (event: TurnEvent): object => {
  if (event.type === 'session.loaded') {
    return { ...event, messages: event.messages.length, state: Object.keys(event.state) };
  }
  if (event.type !== 'model.request') return event;
  const tools = event.tools.map(({ name }) => name);
  // The system prompt is the same at most requests.
  const system = event.step === 1 && event.attempt === 1 ? event.system : event.system.length;
  return { ...event, messages: event.messages.length, tools, system };
};

const recordedValue = (key: string, value: unknown, { redact, maxContentChars, session }: TextRules): unknown => {
  if (typeof value === 'string') return key === 'session' ? session(value) : cutText(redact(value), maxContentChars);
  if (value instanceof Uint8Array || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`;
  return typeof value === 'bigint' ? String(value) : value;
};
