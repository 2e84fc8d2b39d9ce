import {
  decodeRecord,
  encodeRecord,
  MessageList,
  type JSONValue,
  type Message,
  type SessionSnapshot,
  type TurnEvent,
} from '@h/turn';
import type { SessionFolder } from './folder.js';
import { decodeHead, emptyHead, encodeHead, type Head } from './head.js';
import { readLines, type Line } from './lines.js';
import { replaceFile, type Replacement } from './write-file.js';

/** A session as it was at one place of its journal. */
export interface Checkpoint {
  /** What was known at that place, which is its `size`. */
  readonly head: Head;
  readonly snapshot: SessionSnapshot;
  /** What it takes on the disk. */
  readonly bytes: number;
}

export const noCheckpoint = (session: string): Checkpoint => ({
  head: emptyHead(session),
  snapshot: { messages: MessageList.empty, state: {} },
  bytes: 0,
});

const envelope = { turn: 'checkpoint', at: 0 } as const;

/** Writes a checkpoint as lines: a head, then messages and kept state in the form of records, then their number. */
export const writeCheckpoint = (
  { snapshot }: SessionFolder,
  head: Head,
  state: SessionSnapshot,
  replacement: Replacement,
): Promise<void> => replaceFile(snapshot, linesOf(head, state), replacement);

function* linesOf(head: Head, { messages, state }: SessionSnapshot): Generator<string> {
  yield encodeHead(head);
  let count = 0;
  for (const event of eventsOf(MessageList.of(messages), state)) {
    yield encodeRecord({ v: 1, seq: count, event, derived: false });
    count += 1;
  }
  yield JSON.stringify({ records: count });
}

function* eventsOf(messages: MessageList, state: Readonly<Record<string, JSONValue>>): Generator<TurnEvent> {
  // One message a line, as it was in the journal: what could be a line there can be one here.
  for (const message of messages) {
    yield { ...envelope, type: 'history.append', origin: 'checkpoint', messages: [message] };
  }
  for (const [key, value] of Object.entries(state)) yield { ...envelope, type: 'session.state', key, value };
}

/** The checkpoint of a session, if it has one. @throws SyntaxError when it cannot be read, `unsupported-version` as {@link decodeHead} */
export const readCheckpoint = async ({ snapshot: path }: SessionFolder): Promise<Checkpoint | undefined> => {
  let head: Head | undefined;
  let last: Line | undefined;
  let count = 0;
  const messages: Message[] = [];
  const state: Record<string, JSONValue> = {};
  for await (const lines of readLines(path)) {
    for (const line of lines) {
      if (!head) head = decodeHead(line.text);
      else if (last) count = take(last.text, count, messages, state);
      if (line.start > 0) last = line;
    }
  }
  if (!head && !last) return undefined;
  if (!head || !last || last.text !== JSON.stringify({ records: count })) {
    throw new SyntaxError('The snapshot is not complete.');
  }
  return { head, snapshot: { messages: MessageList.of(messages), state }, bytes: last.end };
};

const take = (line: string, count: number, messages: Message[], state: Record<string, JSONValue>): number => {
  const { seq, event } = decode(line);
  if (seq !== count) throw new SyntaxError('The snapshot lacks a part.');
  if (event.type === 'history.append') for (const message of event.messages) messages.push(message);
  if (event.type === 'session.state') {
    Object.defineProperty(state, event.key, {
      value: event.value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return count + 1;
};

const decode = (line: string) => {
  try {
    return decodeRecord(line);
  } catch (error) {
    throw new SyntaxError('The snapshot holds a line that is no record.', { cause: error });
  }
};
