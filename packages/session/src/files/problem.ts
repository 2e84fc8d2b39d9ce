/**
 * Something that was found broken in a session's files.
 *
 * | kind | what it was, and what became of it |
 * |---|---|
 * | `torn-record` | the last record was not written in full: it was never confirmed, and is taken out |
 * | `corrupt-journal` | a record in the middle cannot be read: the journal ends before it from now on |
 * | `short-journal` | the journal ends before the snapshot does: it begins anew, and the history is that of the snapshot |
 * | `corrupt-snapshot` | the snapshot cannot be read: it is made again from the whole journal |
 * | `corrupt-head` | the summary for lists cannot be read: it is made again |
 * | `unreadable` | a folder cannot be read at all: it is left out of lists, and nothing is done to it |
 */
export interface SessionProblem {
  readonly kind:
    | 'torn-record'
    | 'corrupt-journal'
    | 'short-journal'
    | 'corrupt-snapshot'
    | 'corrupt-head'
    | 'unreadable';
  /** Empty where it cannot be told. */
  readonly session: string;
  /** The file that was broken. */
  readonly path: string;
  /** Where what was taken out is kept, byte by byte; `undefined` where nothing was. */
  readonly backup: string | undefined;
  /** How many bytes were taken out. */
  readonly bytes: number;
  readonly message: string;
}
