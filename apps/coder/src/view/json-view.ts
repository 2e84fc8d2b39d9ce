import type { TurnEvent } from '@h/turn';
import type { View } from './view.js';

/**
 * Shows each event as one line of JSON, and nothing else. What is no event goes to `say`.
 *
 * The history and the tools are not repeated with every request: a `model.request` tells how many messages it sends and
 * the names of its tools, `session.loaded` how many messages it found. The messages themselves are in `history.append`.
 */
export const jsonView = (write: (text: string) => void, say: (text: string) => void): View => ({
  say: (lines) => {
    for (const line of lines) say(`${line}\n`);
  },
  event: (event) => write(`${JSON.stringify(abridged(event), bytesAsText)}\n`),
  // What matters of them is among the events of the turn: spawned, ended, delivered.
  child: () => undefined,
  close: () => undefined,
});

const abridged = (event: TurnEvent): object => {
  switch (event.type) {
    case 'model.request':
      return { ...event, messages: event.messages.length, tools: event.tools.map(({ name }) => name) };
    case 'session.loaded':
      return { ...event, messages: event.messages.length };
    default:
      return event;
  }
};

/** Images and other files in messages, as base64. */
const bytesAsText = (_key: string, value: unknown): unknown => {
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64');
  return ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
    : value;
};
