import { readFile } from 'node:fs/promises';
import { textOf, wellFormed, type TurnEvent } from '@h/turn';
import { isInLine, readLines } from './lines.js';
import { sizeOf } from './stat-file.js';
import { formatVersion, newerVersion } from './version.js';
import type { SessionFolder } from './folder.js';

/** What is known of a session without reading its records. */
export interface Head {
  session: string;
  /** How much of the journal this is about, in bytes. */
  size: number;
  turns: number;
  createdAt: number;
  updatedAt: number;
  firstInput: string;
  latest: { readonly turn: string; readonly startedAt: number; ended: boolean } | undefined;
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

/** Adds a record to what is known; its place in the journal is the caller's to note. */
export const advance = (head: Head, seq: number, event: TurnEvent): void => {
  if (seq === 0) beginTurn(head, event);
  head.updatedAt = event.at;
  if (head.latest) head.latest.ended = event.type === 'turn.end';
};

const maxInput = 200;

const beginTurn = (head: Head, event: TurnEvent): void => {
  // A loss of power can take the file with the name.
  if (head.session === '' && event.type === 'turn.start') head.session = event.session;
  if (head.turns === 0) {
    head.createdAt = event.at;
    const [first] = event.type === 'turn.start' ? event.input : [];
    head.firstInput = first ? wellFormed(textOf(first).slice(0, maxInput)) : '';
  }
  head.turns += 1;
  head.latest = { turn: event.turn, startedAt: event.at, ended: false };
};

export const encodeHead = (head: Head): string => JSON.stringify({ v: formatVersion, ...head });

/** @throws SyntaxError when it is none, TurnError `unsupported-version` when a later release wrote it */
export const decodeHead = (text: string): Head => {
  const { v, ...head } = JSON.parse(text) as Head & { v?: unknown };
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

/** The head as it was written last; `undefined` when there is none. @throws as {@link decodeHead} */
export const readHead = async ({ head }: SessionFolder): Promise<Head | undefined> => {
  try {
    return decodeHead(await readFile(head, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** The head as it would be written now: a process that was killed has not written its own. Nothing is changed. */
export const currentHead = async (folder: SessionFolder): Promise<Head> => {
  const written = await readHead(folder).catch((error: unknown) => {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  });
  if (!written) return goOn(emptyHead(folder.session), folder);
  // So it is nearly always, and there may be thousands of them.
  if (written.size === (await sizeOf(folder.journal))) return written;
  // A writer that had lost the session may have been the last to write it.
  const isWrong = written.size > 0 && (await isInLine(folder.journal, written.size));
  return goOn(isWrong ? emptyHead(written.session) : written, folder);
};

/** Adds what the journal has beyond the head. */
const goOn = async (head: Head, { journal }: SessionFolder): Promise<Head> => {
  for await (const lines of readLines(journal, head.size)) {
    for (const { text, end, isTorn } of lines) {
      const record = isTorn ? undefined : glanceAt(text);
      if (!record) return head;
      advance(head, record.seq, record.event);
      head.size = end;
    }
  }
  return head;
};

/** A record without a check: lists need only its beginning, and must not fail because of one session. */
const glanceAt = (line: string): { readonly seq: number; readonly event: TurnEvent } | undefined => {
  try {
    const record = JSON.parse(line) as { seq?: unknown; event?: { at?: unknown; turn?: unknown } };
    const isRecord =
      typeof record.seq === 'number' && typeof record.event?.at === 'number' && typeof record.event.turn === 'string';
    return isRecord ? (record as unknown as { seq: number; event: TurnEvent }) : undefined;
  } catch {
    return undefined;
  }
};
