import type { TurnOutcome, Usage } from '@h/turn';
import type { RefusalCode } from './team/family.js';
import type { ChildStatus } from './child/record.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** A sub-agent was spawned: it runs, or waits for its slot. */
    'subagent.spawned': {
      readonly child: string;
      readonly agent: string;
      readonly session: string;
      readonly depth: number;
    };
    /** A spawn was refused. */
    'subagent.refused': { readonly agent: string; readonly code: RefusalCode; readonly reason: string };
    /** A sub-agent has ended. Its result follows with the next step of its parent. */
    'subagent.ended': {
      readonly child: string;
      readonly agent: string;
      readonly status: ChildStatus;
      readonly outcome?: TurnOutcome | undefined;
      readonly steps: number;
      readonly usage: Usage;
      readonly durationMs: number;
    };
    /** Results were added to the history of their parent. */
    'subagent.delivered': { readonly children: readonly string[] };
    /** The record of a sub-agent could not be stored: after a crash its result may be delivered twice or lost. */
    'subagent.not-kept': { readonly child: string; readonly reason: string };
  }
}
