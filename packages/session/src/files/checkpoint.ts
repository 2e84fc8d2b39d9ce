import type { FileLock } from '@h/files';
import { MessageList, type JSONValue, type Message, type PastTurn, type SessionSnapshot } from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';
import type { SessionFolder } from './folder.js';
import { decodeHead, emptyHead, encodeHead, type Head } from './head.js';
import { encodeLine, inPieces, readLines, type Line } from './lines.js';
import { addSnapshotEvent, snapshotEvents } from '../snapshot.js';

/** A session at one offset of its journal. */
export interface Checkpoint {
  /** The head at that offset, which is its `size`. */
  readonly head: Head;
  readonly snapshot: SessionSnapshot;
  readonly turns: readonly PastTurn[];
  /** Size of the file. */
  readonly bytes: number;
}

export const noCheckpoint = (session: string): Checkpoint => ({
  head: emptyHead(session),
  snapshot: { messages: MessageList.empty, state: {} },
  turns: [],
  bytes: 0,
});

/**
 * Writes a checkpoint: a line with the head, one with past turns, one record per message and state value, and their
 * number.
 */
export const writeCheckpoint = (
  { snapshot: path }: SessionFolder,
  checkpoint: Omit<Checkpoint, 'bytes'>,
  lock: FileLock,
  sync: boolean,
): Promise<void> => lock.replaceFile(path, inPieces(linesOf(checkpoint)), { sync });

function* linesOf({ head, turns, snapshot: { messages, state } }: Omit<Checkpoint, 'bytes'>): Generator<string> {
  yield encodeHead(head);
  yield encodeLine(JSON.stringify({ turns }));
  let count = 0;
  for (const event of snapshotEvents({ messages, state })) {
    yield encodeLine(encodeRecord({ v: 1, seq: count, event, derived: false }));
    count += 1;
  }
  yield encodeLine(JSON.stringify({ records: count }));
}

/**
 * Reads the checkpoint of a session, if it has one.
 *
 * @throws SyntaxError for a damaged one, `unsupported-version` as {@link decodeHead}
 */
export const readCheckpoint = async ({ snapshot: path }: SessionFolder): Promise<Checkpoint | undefined> => {
  let head: Head | undefined;
  let turns: readonly PastTurn[] | undefined;
  let last: Line | undefined;
  let count = 0;
  const messages: Message[] = [];
  const state: Record<string, JSONValue> = {};
  for await (const lines of readLines(path)) {
    for (const line of lines) {
      if (line.isTorn || line.json === undefined) throw new SyntaxError('A line of the snapshot is damaged.');
      if (!head) head = decodeHead(line.json);
      else if (!turns) turns = turnsIn(line.json);
      else {
        if (last?.json !== undefined) count = take(last.json, count, messages, state);
        last = line;
      }
    }
  }
  if (!head) return undefined;
  if (!turns || last?.json !== JSON.stringify({ records: count })) throw new SyntaxError('The snapshot is incomplete.');
  return { head, snapshot: { messages: MessageList.of(messages), state }, turns, bytes: last.end };
};

const turnsIn = (json: string): readonly PastTurn[] => {
  const { turns } = JSON.parse(json) as { turns?: unknown };
  if (!Array.isArray(turns)) throw new SyntaxError('The snapshot has no list of turns.');
  return turns as readonly PastTurn[];
};

const take = (json: string, count: number, messages: Message[], state: Record<string, JSONValue>): number => {
  const { seq, event } = decode(json);
  if (seq !== count) throw new SyntaxError(`The snapshot lacks record ${count}.`);
  addSnapshotEvent(event, messages, state);
  return count + 1;
};

const decode = (json: string) => {
  try {
    return decodeRecord(json);
  } catch (error) {
    throw new SyntaxError('The snapshot contains a line that is not a record.', { cause: error });
  }
};
