import type { Message, Usage } from '@h/turn';

/** The agents and wires whose transcripts are known. */
export type TranscriptFormat = 'claude-code' | 'codex' | 'pi' | 'openai-chat' | 'ai-sdk';

/** A turn of another agent. */
export interface TranscriptTurn {
  /** As milliseconds since 1970, where the transcript says it. */
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** The model that answered last. */
  readonly model?: string | undefined;
  readonly usage: Usage;
  readonly messages: readonly Message[];
}

/**
 * Something that did not come through as it was.
 *
 * `dropped` is not in the result, `changed` is there in another form, `repaired` is what a provider would have refused.
 */
export interface TranscriptNote {
  readonly kind: 'dropped' | 'changed' | 'repaired';
  /** What it was, and what became of it. */
  readonly what: string;
  readonly count: number;
  /** Where it was first seen: the line from 1, or the message from 1 where the format has no lines. */
  readonly firstAt?: number | undefined;
}

/** A conversation that was read from another agent's transcript. */
export interface Transcript {
  readonly format: TranscriptFormat;
  /** The id that the other agent gave it. */
  readonly session?: string | undefined;
  readonly title?: string | undefined;
  readonly turns: readonly TranscriptTurn[];
  /** Everything that did not come through as it was; empty when all did. */
  readonly notes: readonly TranscriptNote[];
}

/** A conversation in another agent's format. */
export interface FormattedTranscript {
  readonly text: string;
  readonly notes: readonly TranscriptNote[];
}
