import type { ErrorInfo, PipelineOperator, SessionStore, ToolEffect } from '@h/turn';
import type { Approve } from './host.js';
import type { HostHistory } from './host-history.js';
import type { ToolLock } from './tool-lock.js';

/** Settings shared by the runs of a session. */
export interface RunOptions<HostMessage> {
  readonly session: string;
  readonly operators: readonly PipelineOperator[];
  readonly history: HostHistory<HostMessage>;
  readonly store: SessionStore;
  readonly lock: ToolLock;
  readonly effects: Readonly<Record<string, ToolEffect>> | undefined;
  readonly approve: Approve;
  readonly describeError: (thrown: unknown) => ErrorInfo;
  readonly isControlFlow: (thrown: unknown) => boolean;
  /** Whether approvals are requested within the call of the host, because `approve` may throw a control-flow error. */
  readonly asksInCall: boolean;
}
