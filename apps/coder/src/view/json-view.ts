import type { TurnEvent } from '@h/turn';
import type { View } from './view.js';

/**
 * Writes each event as one JSON line. Everything else goes to `say`.
 *
 * A `model.request` contains the number of messages and the names of the tools, a `session.loaded` the number of
 * messages. The messages themselves are in `history.append`.
 */
export const jsonView = (write: (text: string) => void, say: (text: string) => void): View => ({
  say: (lines) => {
    for (const line of lines) say(`${line}\n`);
  },
  event: (event) => write(`${JSON.stringify(abridged(event), bytesAsText)}\n`),
  // The turn emits its own events for sub-agents: spawned, ended, delivered.
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

/** Encodes images and other files in messages as base64. */
const bytesAsText = (_key: string, value: unknown): unknown => {
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64');
  return ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
    : value;
};
