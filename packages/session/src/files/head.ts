import { fileSize, readRegularFile } from '@h/files';
import { textOf, wellFormed, type TurnEvent } from '@h/turn';
import { decodeLine, encodeLine, formatVersion, isInLine, newerVersion, readLines } from './lines.js';
import type { SessionFolder } from './folder.js';

/** What is known of a session without reading its records. */
export interface Head {
  session: string;
  /** Size of the journal up to which this holds, in bytes. */
  size: number;
  turns: number;
  createdAt: number;
  updatedAt: number;
  firstInput: string;
  latest: { readonly turn: string; readonly startedAt: number; ended: boolean } | undefined;
  /** The session was deleted. Its files may still be there if the process was killed. */
  isDeleted?: true;
}

export const emptyHead = (session: string): Head => ({
  session,
  size: 0,
  turns: 0,
  createdAt: 0,
  updatedAt: 0,
  firstInput: '',
  latest: undefined,
});

/** Adds a record. The caller updates `size`. */
export const advance = (head: Head, seq: number, event: TurnEvent): void => {
  if (seq === 0) beginTurn(head, event);
  head.updatedAt = event.at;
  if (head.latest) head.latest.ended = event.type === 'turn.end';
};

const maxInput = 200;

const beginTurn = (head: Head, event: TurnEvent): void => {
  // The file that holds the name may be lost.
  if (head.session === '' && event.type === 'turn.start') head.session = event.session;
  if (head.turns === 0) {
    head.createdAt = event.at;
    const [first] = event.type === 'turn.start' ? event.input : [];
    head.firstInput = first ? wellFormed(textOf(first).slice(0, maxInput)) : '';
  }
  head.turns += 1;
  head.latest = { turn: event.turn, startedAt: event.at, ended: false };
};

export const encodeHead = (head: Head): string => encodeLine(JSON.stringify({ v: formatVersion, ...head }));

/** Parses the JSON of a head. @throws SyntaxError for anything else, TurnError `unsupported-version` if a later release wrote it */
export const decodeHead = (json: string | undefined): Head => {
  if (json === undefined) throw new SyntaxError('The checksum of the head does not match.');
  const { v, ...head } = JSON.parse(json) as Head & { v?: unknown };
  if (typeof v === 'number' && v > formatVersion) throw newerVersion(v);
  if (
    v !== formatVersion ||
    typeof head.session !== 'string' ||
    !Number.isInteger(head.size) ||
    !Number.isInteger(head.turns)
  ) {
    throw new SyntaxError('This is not the head of a session.');
  }
  return { ...emptyHead(head.session), ...head };
};

/** Reads the head as it was written last; `undefined` without one. @throws as {@link decodeHead} */
export const readHead = async ({ head }: SessionFolder): Promise<Head | undefined> => {
  const content = await readRegularFile(head);
  return content && decodeHead(decodeLine(Buffer.from(content.text)));
};

/** Reads the head and updates it from the journal, because a process that was killed has not written its own. Changes no file. */
export const currentHead = async (folder: SessionFolder): Promise<Head> => {
  const written = await readHead(folder).catch((error: unknown) => {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  });
  if (!written) return continueHead(emptyHead(folder.session), folder);
  const size = await fileSize(folder.journal);
  // Nearly always, and there may be thousands of sessions.
  if (written.isDeleted || written.size === size) return written;
  // A power failure may have taken records, and a writer that had lost the session may have written the head.
  const isWrong = written.size > size || (written.size > 0 && (await isInLine(folder.journal, written.size)));
  return continueHead(isWrong ? emptyHead(written.session) : written, folder);
};

/** Adds what the journal has beyond the head. */
const continueHead = async (head: Head, { journal }: SessionFolder): Promise<Head> => {
  for await (const lines of readLines(journal, head.size)) {
    for (const { json, end, isTorn } of lines) {
      const record = isTorn || json === undefined ? undefined : glanceAt(json);
      if (!record) return head;
      advance(head, record.seq, record.event);
      head.size = end;
    }
  }
  return head;
};

/** Parses a record without validating it: a list must not fail because of one session. */
const glanceAt = (json: string): { readonly seq: number; readonly event: TurnEvent } | undefined => {
  try {
    const record = JSON.parse(json) as { seq?: unknown; event?: { at?: unknown; turn?: unknown } };
    const isRecord =
      typeof record.seq === 'number' && typeof record.event?.at === 'number' && typeof record.event.turn === 'string';
    return isRecord ? (record as unknown as { seq: number; event: TurnEvent }) : undefined;
  } catch {
    return undefined;
  }
};
