import type { Usage } from '@h/turn';

/** How something ended: `open` where no end was recorded. */
export type TraceStatus = 'ok' | 'error' | 'refused' | 'open';

/** Something that took time in a turn, or happened in it. */
export interface TraceNode {
  readonly kind: 'step' | 'model' | 'tool' | 'notice';
  readonly name: string;
  /** Milliseconds since the turn began. */
  readonly start: number;
  end: number;
  status: TraceStatus;
  /** A few words for the line: a finish reason, an error. */
  note?: string | undefined;
  usage?: Usage | undefined;
  cost?: number | undefined;
  /** From the request to the first piece of the answer. */
  firstDeltaMs?: number | undefined;
  readonly details: (readonly [label: string, text: string])[];
  readonly children: TraceNode[];
}

/** A turn, as it was recorded. */
export interface Trace {
  readonly id: string;
  readonly session?: string | undefined;
  readonly parent?: string | undefined;
  readonly trigger?: string | undefined;
  readonly startedAt: number;
  readonly durationMs: number;
  /** `undefined` where no end was recorded: the process died, or the turn still runs. */
  readonly outcome?: string | undefined;
  readonly reason?: string | undefined;
  readonly input: string;
  readonly models: readonly string[];
  readonly usage: Usage;
  /** In US dollars; `undefined` where a price is unknown. */
  readonly cost?: number | undefined;
  readonly steps: number;
  readonly toolCalls: number;
  readonly nodes: readonly TraceNode[];
}
