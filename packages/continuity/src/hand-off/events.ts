import type { ErrorInfo, Usage } from '@h/turn';

/** Why a context is replaced by a briefing. */
export type HandOffTrigger = 'compaction' | 'overflow' | 'loop' | 'confused' | 'manual';

declare module '@h/turn' {
  interface TurnEvents {
    /** A hand-off begins; the request waits for the briefing. */
    'handoff.started': { readonly trigger: HandOffTrigger; readonly messages: number };
    /** The briefing has replaced the history. */
    'handoff.done': {
      readonly trigger: HandOffTrigger;
      /** The number of hand-offs in this session. */
      readonly resets: number;
      readonly messagesBefore: number;
      readonly messagesAfter: number;
      /** The path of the briefing in the project; absent if it could not be written. */
      readonly path?: string | undefined;
      /** Identifiers in the history: how many the summarizer lost and had appended, and how many had no room. */
      readonly identifiers: { readonly found: number; readonly appended: number; readonly dropped: number };
      readonly usage: Usage;
    };
    /** No briefing could be written; the history is unchanged. */
    'handoff.failed': { readonly trigger: HandOffTrigger; readonly error: ErrorInfo };
    /** A hand-off was due, but the session has reached its limit or the last one was too recent. */
    'handoff.refused': { readonly trigger: HandOffTrigger; readonly reason: string };
  }
}
