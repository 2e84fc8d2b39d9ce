import type { LaneError } from './errors.js';

/** An event of the lanes, for monitoring. */
export type LaneEvent =
  /** A request was refused, or a holder was asked to stop; `error.code` is the reason. */
  | {
      readonly type: 'refused' | 'aborted';
      readonly session: string;
      readonly label: string | undefined;
      readonly error: LaneError;
    }
  /** A holder did not stop within its grace period and lost its slot. */
  | {
      readonly type: 'lost';
      readonly session: string;
      readonly label: string | undefined;
      readonly fence: number;
      readonly error: LaneError;
    }
  /** Work ended after its slot was lost; its result is ignored. */
  | {
      readonly type: 'late';
      readonly session: string;
      readonly label: string | undefined;
      readonly fence: number;
      readonly lateMs: number;
    }
  /**
   * Every holder has made a request that waits for a slot: a deadlock, unless the holders do not wait for these
   * requests.
   */
  | { readonly type: 'slots-held-by-parents'; readonly sessions: readonly string[] }
  /** A callback threw an error. */
  | {
      readonly type: 'callback-failed';
      readonly session: string;
      readonly label: string | undefined;
      readonly error: unknown;
    };
