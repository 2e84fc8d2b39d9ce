import type { ErrorInfo, JSONValue } from '@h/turn';
import type { HookPoint } from './hook.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A hook threw, rejected, returned an invalid answer or exceeded its time limit. */
    'hook.failed': {
      readonly hook: string;
      readonly point: HookPoint | 'onReplay';
      readonly error: ErrorInfo;
      readonly effect: 'denied' | 'ignored';
    };
    /** A message of a hook. */
    'hook.notice': {
      readonly hook: string;
      readonly point: HookPoint;
      readonly message: string;
      readonly details?: JSONValue | undefined;
    };
    /** A hook denied the turn, a message or a tool call. */
    'hook.denied': {
      readonly hook: string;
      readonly point: HookPoint;
      readonly reason: string;
      /** The id of the denied tool call; `undefined` for other denials. */
      readonly callId?: string | undefined;
    };
    /** A hook replaced the input of a tool call. */
    'hook.rewrote': { readonly hook: string; readonly callId: string; readonly tool: string };
    /** A hook continued the turn, or tried to after the limit `maxSendBacks` (`refused`). */
    'hook.sent-back': {
      readonly hook: string;
      readonly reason: string;
      readonly count: number;
      readonly refused: boolean;
    };
    /** An earlier approval allowed a call. */
    'approval.remembered': { readonly callId: string; readonly rule: string };
    /**
     * The approval store failed or exceeded its time limit. The user is asked, or the rule applies to the session only.
     */
    'approval.store-failed': { readonly error: ErrorInfo };
  }
}
