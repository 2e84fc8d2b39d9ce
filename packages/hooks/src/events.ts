import type { ErrorInfo, JSONValue } from '@h/turn';
import type { HookPoint } from './hook.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A hook threw, rejected, answered nonsense or took too long; `effect` says what that led to. */
    'hook.failed': {
      readonly hook: string;
      readonly point: HookPoint | 'onReplay';
      readonly error: ErrorInfo;
      readonly effect: 'denied' | 'ignored';
    };
    /** A hook has something to say. */
    'hook.notice': {
      readonly hook: string;
      readonly point: HookPoint;
      readonly message: string;
      readonly details?: JSONValue | undefined;
    };
    /** A hook refused. */
    'hook.denied': {
      readonly hook: string;
      readonly point: HookPoint;
      readonly reason: string;
      /** The tool call that was denied, if it was one. */
      readonly callId?: string | undefined;
    };
    /** A hook has given a tool call another input. */
    'hook.rewrote': { readonly hook: string; readonly callId: string; readonly tool: string };
    /** A hook sent the turn back to work, or wanted to after that had happened as often as it may (`refused`). */
    'hook.sent-back': {
      readonly hook: string;
      readonly reason: string;
      readonly count: number;
      readonly refused: boolean;
    };
    /** A call was allowed without a question, by what a person has said before. */
    'approval.remembered': { readonly callId: string; readonly rule: string };
    /** Rules that are to be remembered could not be read or kept; the person is asked instead, or the rule lasts for the session. */
    'approval.store-failed': { readonly error: ErrorInfo };
  }
}
