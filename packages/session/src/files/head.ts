import { fileSize, readRegularFile } from '@h/files';
import { textOf, wellFormed, type TurnEvent } from '@h/turn';
import { decodeLine, encodeLine, formatVersion, isInLine, newerVersion, readLines } from './lines.js';
import type { SessionFolder } from './folder.js';

/** Summary of a session, so that lists need not read its records. */
export interface Head {
  session: string;
  /** Size of the journal that the summary covers, in bytes. */
  size: number;
  turns: number;
  createdAt: number;
  updatedAt: number;
  firstInput: string;
  latest: { readonly turn: string; readonly startedAt: number; ended: boolean } | undefined;
  /** Whether the session was deleted. Its files may still exist if the process was killed. */
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

/** The beginning of the first input of a turn, for lists. */
export const firstInputOf = (event: TurnEvent): string => {
  const [first] = event.type === 'turn.start' ? event.input : [];
  return first ? wellFormed(textOf(first).slice(0, maxInput)) : '';
};

const beginTurn = (head: Head, event: TurnEvent): void => {
  // The file that contains the name may be lost.
  if (head.session === '' && event.type === 'turn.start') head.session = event.session;
  if (head.turns === 0) {
    head.createdAt = event.at;
    head.firstInput = firstInputOf(event);
  }
  head.turns += 1;
  head.latest = { turn: event.turn, startedAt: event.at, ended: false };
};

export const encodeHead = (head: Head): string => encodeLine(JSON.stringify({ v: formatVersion, ...head }));

/**
 * Parses the JSON of a head.
 *
 * @throws SyntaxError for anything else, TurnError `unsupported-version` if a later release wrote it
 */
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

/** Reads the stored head; `undefined` if there is none. @throws as {@link decodeHead} */
export const readHead = async ({ head }: SessionFolder): Promise<Head | undefined> => {
  const content = await readRegularFile(head);
  return content && decodeHead(decodeLine(Buffer.from(content.text)));
};

/**
 * Reads the head and updates it from the journal, because a killed process has not written its own. Changes no file.
 */
export const currentHead = async (folder: SessionFolder): Promise<Head> => {
  const written = await readHead(folder).catch((error: unknown) => {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  });
  if (!written) return continueHead(emptyHead(folder.session), folder);
  const size = await fileSize(folder.journal);
  // The usual case; there may be thousands of sessions.
  if (written.isDeleted || written.size === size) return written;
  // A power failure may have removed records, or a writer that had lost the session may have written the head.
  const isWrong = written.size > size || (written.size > 0 && (await isInLine(folder.journal, written.size)));
  return continueHead(isWrong ? emptyHead(written.session) : written, folder);
};

/** Adds the records that follow the head in the journal. */
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

/** Parses a record without validating it, so that one invalid session does not fail a list. */
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
