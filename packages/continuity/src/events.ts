import type { ErrorInfo } from '@h/turn';

declare module '@h/turn' {
  interface TurnEvents {
    /** The state at the beginning of a turn, before its first model call. */
    'continuity.state': {
      readonly role: string;
      readonly file: 'missing' | 'ready' | 'corrupt' | 'newer' | 'unreadable';
      readonly done: number;
      readonly total: number;
      /** Id of the task that the session has claimed or could claim. */
      readonly task?: string | undefined;
    };
    /** The notes are written, the claims released, the work committed. */
    'continuity.ended': {
      readonly done: number;
      readonly total: number;
      readonly task?: string | undefined;
      readonly commit?: string | undefined;
    };
    /** A rule was drafted from a failure, for a person to review. */
    'continuity.rule-proposed': { readonly id: string; readonly rule: string };
    /**
     * A part of the state could not be read or written; the turn continues without it. `lease` also reports that
     * another session has taken over the task.
     */
    'continuity.problem': {
      readonly what: 'read' | 'script' | 'lease' | 'notes' | 'progress' | 'commit' | 'rule';
      readonly error: ErrorInfo;
    };
  }
}
