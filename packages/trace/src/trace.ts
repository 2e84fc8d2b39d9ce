import type { Usage } from '@h/turn';

/** How an activity ended; `open` if no end was recorded. */
export type TraceStatus = 'ok' | 'error' | 'refused' | 'open';

/** An activity or an event of a turn. */
export interface TraceNode {
  readonly kind: 'step' | 'model' | 'tool' | 'notice';
  readonly name: string;
  /** Milliseconds since the start of the turn. */
  readonly start: number;
  end: number;
  status: TraceStatus;
  /** Short note, such as a finish reason or an error. */
  note?: string | undefined;
  usage?: Usage | undefined;
  cost?: number | undefined;
  /** Milliseconds from the request to the first delta. */
  firstDeltaMs?: number | undefined;
  readonly details: (readonly [label: string, text: string])[];
  readonly children: TraceNode[];
}

/** A recorded turn. */
export interface Trace {
  readonly id: string;
  readonly session?: string | undefined;
  readonly parent?: string | undefined;
  readonly trigger?: string | undefined;
  readonly startedAt: number;
  readonly durationMs: number;
  /** `undefined` if no end was recorded: the process died, or the turn still runs. */
  readonly outcome?: string | undefined;
  readonly reason?: string | undefined;
  readonly input: string;
  readonly models: readonly string[];
  readonly usage: Usage;
  /** In US dollars; `undefined` if a price is unknown. */
  readonly cost?: number | undefined;
  readonly steps: number;
  readonly toolCalls: number;
  readonly nodes: readonly TraceNode[];
}
