import type { LaneError } from './errors.js';

/** Something that whoever watches over the lanes may want to know. */
export type LaneEvent =
  /** Has no place, or is asked to give it back; `error.code` says why. */
  | {
      readonly type: 'refused' | 'aborted';
      readonly session: string;
      readonly label: string | undefined;
      readonly error: LaneError;
    }
  /** Did not stop in its grace: its place was taken away. */
  | {
      readonly type: 'lost';
      readonly session: string;
      readonly label: string | undefined;
      readonly fence: number;
      readonly error: LaneError;
    }
  /** Has come to its end after its place was taken away; what it brought does not count. */
  | {
      readonly type: 'late';
      readonly session: string;
      readonly label: string | undefined;
      readonly fence: number;
      readonly lateMs: number;
    }
  /** Everybody who has a slot has started something that waits for one: they wait for each other, unless they do not wait for it. */
  | { readonly type: 'slots-held-by-parents'; readonly sessions: readonly string[] }
  /** A callback has thrown. */
  | {
      readonly type: 'callback-failed';
      readonly session: string;
      readonly label: string | undefined;
      readonly error: unknown;
    };
