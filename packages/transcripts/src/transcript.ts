import type { Message, Usage } from '@h/turn';

/** Supported transcript formats. */
export type TranscriptFormat = 'claude-code' | 'codex' | 'pi' | 'openai-chat' | 'anthropic-messages' | 'ai-sdk';

/** A turn of another agent. */
export interface TranscriptTurn {
  /** As milliseconds since 1970, if the transcript contains it. */
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** The model that answered last. */
  readonly model?: string | undefined;
  readonly usage: Usage;
  readonly messages: readonly Message[];
}

/**
 * A difference between the transcript and the result.
 *
 * `dropped` is missing in the result, `changed` has another form, `repaired` would have been rejected by a provider.
 */
export interface TranscriptNote {
  readonly kind: 'dropped' | 'changed' | 'repaired';
  /** Description of the difference. */
  readonly what: string;
  readonly count: number;
  /** First occurrence: the line, or the message if the format has no lines, counted from 1. */
  readonly firstAt?: number | undefined;
}

/** A parsed transcript. */
export interface Transcript {
  readonly format: TranscriptFormat;
  /** Session id of the other agent. */
  readonly session?: string | undefined;
  readonly title?: string | undefined;
  readonly turns: readonly TranscriptTurn[];
  /** All differences; empty if the conversation is represented in full. */
  readonly notes: readonly TranscriptNote[];
}

/** A conversation in another agent's format. */
export interface FormattedTranscript {
  readonly text: string;
  readonly notes: readonly TranscriptNote[];
}
