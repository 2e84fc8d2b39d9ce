import type { ErrorInfo, FinishReason, JSONObject, ToolStatus, TurnOutcome, Usage } from '@h/turn';

/** Severity of an observation. */
export type ObservationLevel = 'debug' | 'info' | 'warn' | 'error';

/** Members of every observation. */
export interface ObservationBase {
  /** Id of the turn. */
  readonly runId: string;
  /** Sequence number within the turn, from 0 without gaps, also across a resume. */
  readonly seq: number;
  /** Time in milliseconds since 1970. */
  readonly at: number;
  /** The subsystem: the part of the event type before the first dot. */
  readonly subsystem: string;
  readonly level: ObservationLevel;
}

/** Summary of an error, without headers and body, which may contain keys. */
export type ErrorSummary = Pick<ErrorInfo, 'name' | 'message' | 'code' | 'status' | 'operator'>;

/** How a turn recovered from a failure: a retry, another credential, another model, or a shorter history. */
export type RecoveryAction = 'retry' | 'rotate' | 'fallback' | 'compact';

/** Identity of a turn, known from its start. */
export interface RunIdentity {
  /** `metadata.sessionId` of the turn. @defaultValue `sessionKey` */
  readonly sessionId: string;
  /** The session name in the form that `ObserveOptions.sessionKey` selects; a hash by default. */
  readonly sessionKey: string;
  /** Id of the parent turn. */
  readonly parentRunId?: string | undefined;
  readonly harnessId?: string | undefined;
  readonly trigger: string;
  readonly channel?: string | undefined;
}

/** Emitted when a turn is admitted. */
export interface RunStarted extends ObservationBase, RunIdentity {
  readonly type: 'run.started';
  /** How long the turn waited before it was admitted. */
  readonly queueWaitMs: number;
  /** The user's message, if `content` is enabled. */
  readonly input?: string | undefined;
}

/** Emitted once per turn, at its end: `run.error` if the outcome is `error`. */
export interface RunEnded extends ObservationBase, RunIdentity {
  readonly type: 'run.completed' | 'run.error';
  /** Provider of the last model call. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly queueWaitMs: number;
  /** Time from admission to the end, by a monotonic clock. */
  readonly durationMs: number;
  readonly outcome: TurnOutcome;
  readonly reason?: string | undefined;
  readonly steps: number;
  /** Number of model calls, including failed ones. */
  readonly modelCalls: number;
  readonly failedModelCalls: number;
  /** Usage of all model calls, including failed ones and side questions. */
  readonly usage: Usage;
  /** Share of the input that the provider read from its cache, from 0 to 1; absent without input. */
  readonly cacheHitRate?: number | undefined;
  /** Cost in US dollars; absent if the price of any call is unknown. */
  readonly cost?: number | undefined;
  /** Estimated tokens, for providers that report no usage; present if `ObserveOptions.approximateTokens` is set. */
  readonly approximateTokens?: number | undefined;
  readonly toolCalls: number;
  readonly toolErrors: number;
  readonly compactionTriggered: boolean;
  /** Id of the credential of the last model call. Never a key. */
  readonly credentialProfileId?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly error?: ErrorSummary | undefined;
  /** The last recovery of the turn. */
  readonly recoveryAction?: RecoveryAction | undefined;
  /** Whether a model other than the first requested one answered. */
  readonly fallbackUsed: boolean;
  /** Number of deltas. */
  readonly deltas: number;
  /** Number of notices of other packages, by subsystem. */
  readonly notices: Readonly<Record<string, number>>;
}

/** Emitted at the end of a step: a model call with its retries, and the tool calls of the answer. */
export interface StepDone extends ObservationBase {
  readonly type: 'step.done';
  readonly step: number;
  readonly attempts: number;
  readonly toolCalls: number;
  readonly durationMs: number;
  readonly usage: Usage;
  readonly cost?: number | undefined;
}

/** Emitted at the end of each model call attempt. */
export interface ModelCalled extends ObservationBase {
  readonly type: 'model.call';
  readonly step: number;
  readonly attempt: number;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** The model that answered, by the provider's name. */
  readonly responseModel?: string | undefined;
  readonly responseId?: string | undefined;
  readonly credentialProfileId?: string | undefined;
  readonly durationMs: number;
  /** Time from the request to the first delta. */
  readonly firstDeltaMs?: number | undefined;
  readonly deltas: number;
  readonly usage: Usage;
  readonly cost?: number | undefined;
  readonly finishReason?: FinishReason | undefined;
  readonly error?: ErrorSummary | undefined;
  /** Whether the call failed and is retried. */
  readonly retrying?: boolean | undefined;
  /** The model's answer, if `content` is enabled. */
  readonly output?: string | undefined;
}

/** Emitted when a tool call has a result. */
export interface ToolCalled extends ObservationBase {
  readonly type: 'tool.call';
  readonly step: number;
  readonly callId: string;
  readonly tool: string;
  readonly status: ToolStatus;
  /** Duration that the tool driver measured, or the time from the decision to the result. */
  readonly durationMs: number;
  /** Length of the output for the model, in characters. */
  readonly outputChars?: number | undefined;
  readonly error?: ErrorSummary | undefined;
  readonly deniedBy?: string | undefined;
  /** Input of the call, if `content` is enabled. */
  readonly input?: string | undefined;
  readonly output?: string | undefined;
}

/**
 * Any other event of a turn: notices of other packages under their own type (`compaction.done`, `loop.warning`,
 * `failover.switched`, `budget.near`, `security.…`, `cache.broken` …), approvals, incoming messages and `sink.failed`.
 */
export interface Noticed extends ObservationBase {
  readonly type: `${string}.${string}`;
  /** Data of the event, limited in size; includes content only if `content` is enabled. */
  readonly data: JSONObject;
}

/** An observation as plain data, as sinks receive it. */
export type Observation = RunStarted | RunEnded | StepDone | ModelCalled | ToolCalled | Noticed;

/** Start of an activity. Only sinks that follow a running turn receive it. */
export type Beginning =
  | ({ readonly kind: 'run'; readonly runId: string; readonly at: number } & RunIdentity & {
        readonly input?: string | undefined;
      })
  | { readonly kind: 'step'; readonly runId: string; readonly at: number; readonly step: number }
  | {
      readonly kind: 'model';
      readonly runId: string;
      readonly at: number;
      readonly step: number;
      readonly attempt: number;
      readonly provider?: string | undefined;
      readonly model?: string | undefined;
      readonly maxOutputTokens?: number | undefined;
      readonly temperature?: number | undefined;
      readonly topP?: number | undefined;
    }
  | {
      readonly kind: 'tool';
      readonly runId: string;
      readonly at: number;
      readonly step: number;
      readonly callId: string;
      readonly tool: string;
    };

/** Whether the observation is the end of a turn. */
export const isRunEnd = (observation: Observation): observation is RunEnded =>
  observation.type === 'run.completed' || observation.type === 'run.error';

/** Whether the observation is a notice of another package. */
export const isNotice = (observation: Observation): observation is Noticed => 'data' in observation;
