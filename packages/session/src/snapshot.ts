import { MessageList, type JSONValue, type Message, type SessionSnapshot, type TurnEvent } from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';

const envelope = { turn: 'checkpoint', at: 0 } as const;

/** Yields the events that build a snapshot: one for each message, and one for each state value. */
export function* snapshotEvents({ messages, state }: SessionSnapshot): Generator<TurnEvent> {
  // One message per event: a message that fits into a line of the journal also fits here.
  for (const message of messages) {
    yield { ...envelope, type: 'history.append', origin: 'checkpoint', messages: [message] };
  }
  for (const [key, value] of Object.entries(state)) yield { ...envelope, type: 'session.state', key, value };
}

/** Adds an event of {@link snapshotEvents} to a snapshot that is being read. */
export const addSnapshotEvent = (event: TurnEvent, messages: Message[], state: Record<string, JSONValue>): void => {
  if (event.type === 'history.append') for (const message of event.messages) messages.push(message);
  if (event.type === 'session.state') {
    // An assignment would drop the key __proto__.
    Object.defineProperty(state, event.key, {
      value: event.value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
};

/** Encodes a snapshot as lines of JSON. */
export const encodeSnapshot = (snapshot: SessionSnapshot): string =>
  Array.from(snapshotEvents(snapshot), (event, seq) => encodeRecord({ v: 1, seq, event, derived: false })).join('\n');

/** Decodes the result of {@link encodeSnapshot}. @throws TurnError `invalid-record` */
export const decodeSnapshot = (text: string): SessionSnapshot => {
  const messages: Message[] = [];
  const state: Record<string, JSONValue> = {};
  for (const line of text === '' ? [] : text.split('\n')) addSnapshotEvent(decodeRecord(line).event, messages, state);
  return { messages: MessageList.of(messages), state };
};
