import type { TurnEvent, TurnOutcome } from './events.js';
import type { JSONValue } from './json.js';
import type { Message } from './messages.js';

/** A value now, or later. Stores that answer at once cost no tick. */
export type MaybePromise<Value> = Value | PromiseLike<Value>;

/** An event as it is journaled. `encodeRecord` writes it as a line of JSON. */
export interface JournalRecord {
  /** Version of the format. */
  readonly v: 1;
  /** Place in the turn's journal, from 0 without gaps. */
  readonly seq: number;
  readonly event: TurnEvent;
  /**
   * The event repeats what the records before it say (the messages that it appends, the input of its call), so that
   * it need not be written again.
   */
  readonly derived: boolean;
}

/** A session as it was before a turn. */
export interface SessionSnapshot {
  readonly messages: Iterable<Message>;
  readonly state: Readonly<Record<string, JSONValue>>;
}

/** A turn that a session has recorded. */
export interface PastTurn {
  readonly turn: string;
  /** When it began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Undefined for a turn that has not ended. */
  readonly outcome: TurnOutcome | undefined;
}

/** A session that was opened for writing. */
export interface OpenSession {
  /** The session before its latest turn. */
  readonly snapshot: SessionSnapshot;
  /** The journal of the latest turn, ended or not; empty when there is none. */
  readonly journal: readonly JournalRecord[];
  /**
   * Adds a record to the journal.
   *
   * A record with `seq` 0 begins a new turn: the one before it is folded into the snapshot (`foldJournal`) and its
   * journal is kept no longer. The record is safe once the promise is fulfilled, and records are kept in the order of
   * the calls. Fails once the session is closed or has been taken over by another writer, and when a record before it
   * could not be kept: a journal has no gaps.
   */
  append(record: JournalRecord): MaybePromise<void>;
  /**
   * Looks up a turn of this session by its id, so that an id that was used before the latest turn is rejected as well.
   *
   * A store may remember a limited number of turns. Without this method only the id of the latest turn is rejected.
   */
  pastTurn?(turn: string): PastTurn | undefined;
  /** Lets the session go, after all records are safe. */
  close(): MaybePromise<void>;
}

/** A turn without an end. */
export interface UnfinishedTurn {
  readonly turn: string;
  readonly session: string;
  /** When it began, as milliseconds since 1970. */
  readonly startedAt: number;
}

/**
 * Where sessions are kept.
 *
 * Contract:
 * - One writer a session: `open` fails with `SessionBusyError` while another holds it. An unknown session is empty.
 * - What `append` has confirmed survives a crash, as far as the store promises; a torn last record is dropped whole.
 * - A record that was given is stored as it is; stores never interpret events beyond the beginning and end of a turn.
 */
export interface SessionStore {
  open(session: string): MaybePromise<OpenSession>;
  /** The session that holds the journal of this turn. */
  locate(turn: string): MaybePromise<string | undefined>;
  /** Turns whose process is gone and that were not ended; those that run are not among them. */
  unfinished(): MaybePromise<readonly UnfinishedTurn[]>;
}
