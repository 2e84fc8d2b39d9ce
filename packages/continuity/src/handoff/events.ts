import type { ErrorInfo, Usage } from '@h/turn';

/** Why a context is given up. */
export type HandOffTrigger = 'compaction' | 'overflow' | 'loop' | 'confused' | 'manual';

declare module '@h/turn' {
  interface TurnEvents {
    /** The context is past saving; the request waits for a briefing. */
    'handoff.started': { readonly trigger: HandOffTrigger; readonly messages: number };
    /** The history is the briefing now. */
    'handoff.done': {
      readonly trigger: HandOffTrigger;
      /** How many there have been in this session. */
      readonly resets: number;
      readonly messagesBefore: number;
      readonly messagesAfter: number;
      /** Into how many parts the history was cut for the summariser. */
      readonly chunks: number;
      /** Where the briefing is kept; nothing where it could not be. */
      readonly path?: string | undefined;
      /** Of the identifiers in the history: how many had to be appended because the summariser had lost them, and how many had no room. */
      readonly identifiers: { readonly found: number; readonly appended: number; readonly dropped: number };
      readonly usage: Usage;
    };
    /** No briefing could be written; the history stays as it is. */
    'handoff.failed': { readonly trigger: HandOffTrigger; readonly error: ErrorInfo };
    /** A reset would be due, but there were too many, or the last one is too short a while ago. */
    'handoff.refused': { readonly trigger: HandOffTrigger; readonly reason: string };
  }
}
