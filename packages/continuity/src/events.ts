import type { ErrorInfo } from '@h/turn';

declare module '@h/turn' {
  interface TurnEvents {
    /** What the session begins with. Once a turn, before its first model call. */
    'continuity.state': {
      readonly role: string;
      readonly file: 'missing' | 'ready' | 'corrupt' | 'newer' | 'unreadable';
      readonly done: number;
      readonly total: number;
      /** Id of the task that is or would be this session's. */
      readonly task?: string | undefined;
    };
    /** What the session leaves behind: its notes are written, its claims let go, its work committed. */
    'continuity.ended': {
      readonly done: number;
      readonly total: number;
      readonly task?: string | undefined;
      readonly commit?: string | undefined;
    };
    /** A failure has become a proposed rule, for a person to review. */
    'continuity.rule-proposed': { readonly id: string; readonly rule: string };
    /** Part of the state could not be read or written; the turn goes on without it. `lease` also says that the task was taken up by another session. */
    'continuity.problem': {
      readonly what: 'read' | 'script' | 'lease' | 'notes' | 'progress' | 'commit' | 'rule';
      readonly error: ErrorInfo;
    };
  }
}
