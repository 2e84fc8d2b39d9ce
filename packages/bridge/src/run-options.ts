import type { PipelineOperator, SessionStore } from '@h/turn';
import type { CallOptions } from './call-slot.js';
import type { HostHistory } from './host-history.js';

/** Settings shared by the runs of a session. */
export interface RunOptions<HostMessage> extends CallOptions {
  readonly session: string;
  readonly operators: readonly PipelineOperator[];
  readonly history: HostHistory<HostMessage>;
  readonly store: SessionStore;
}

/** How the loop of the host has ended. */
export interface LoopEnd<HostMessage> {
  /** The history of the host, with the results of calls that it ran by itself. */
  readonly messages?: readonly HostMessage[] | undefined;
  /** The error of the loop. */
  readonly failure?: Error | undefined;
  /** Whether the loop ended before the run was complete. @defaultValue whether the host has aborted the run */
  readonly isAbandoned?: boolean | undefined;
}
