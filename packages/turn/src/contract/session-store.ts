import type { TurnEvent, TurnOutcome } from './events.js';
import type { JSONValue } from './json.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Message } from './messages.js';

/** A journal entry. `encodeRecord` serializes it as one line of JSON. */
export interface JournalRecord {
  /** Version of the format. */
  readonly v: 1;
  /** Position in the turn's journal, from 0 without gaps. */
  readonly seq: number;
  readonly event: TurnEvent;
  /**
   * The content of the event follows from earlier records (the messages that it appends, the input of its call), so a
   * store need not write it again.
   */
  readonly derived: boolean;
}

/** The session before a turn. */
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
  /** The journal of the latest turn, ended or not; empty for a new session. */
  readonly journal: readonly JournalRecord[];
  /**
   * Whether a latest turn that has not ended must be resumed before a new one begins, because several processes resume
   * the turns of the store. A new turn then fails with `session-unfinished`.
   *
   * @defaultValue `false`: a new turn ends the unfinished one
   */
  readonly mustResume?: boolean | undefined;
  /**
   * Adds a record to the journal.
   *
   * A record with `seq` 0 begins a new turn: the store folds the previous turn into the snapshot (`foldJournal`) and
   * drops its journal. The record is durable when the promise resolves; records are stored in call order. Rejects if
   * the session is closed, if another writer has taken it over, or if an earlier record could not be stored: a
   * journal has no gaps.
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
  /** Start time in milliseconds since 1970. */
  readonly startedAt: number;
}

/** Why a session is opened. A wrapper of a store passes it on. */
export interface OpenOptions {
  /** The unfinished turn that the caller resumes or finishes. Undefined for a new turn, and to read the session. */
  readonly resume?: string | undefined;
}

/**
 * Stores sessions and the journals of their latest turns.
 *
 * Contract:
 * - One writer per session: `open` fails with `SessionBusyError` while another writer holds it. An unknown session is
 *   empty.
 * - A record that `append` has confirmed survives a crash, as far as the store promises; a torn last record is dropped.
 * - Records are stored as given; a store interprets only the beginning and the end of a turn.
 */
export interface SessionStore {
  open(session: string, options?: OpenOptions): MaybePromise<OpenSession>;
  /** Returns the session that holds the journal of this turn. */
  locate(turn: string): MaybePromise<string | undefined>;
  /** Lists turns whose process died before they ended. Running turns are not listed. */
  unfinished(): MaybePromise<readonly UnfinishedTurn[]>;
}
