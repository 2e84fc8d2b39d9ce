import type { ErrorInfo, FinishReason, JSONObject, ToolStatus, TurnOutcome, Usage } from '@h/turn';

/** How much an observation matters. */
export type ObservationLevel = 'debug' | 'info' | 'warn' | 'error';

/** What every observation carries. */
export interface ObservationBase {
  /** Id of the turn. */
  readonly runId: string;
  /** Place among the observations of the turn, from 0 without gaps, also across a resume. */
  readonly seq: number;
  /** When it happened, as milliseconds since 1970. */
  readonly at: number;
  /** The subsystem: the part of the event type before the first dot. */
  readonly subsystem: string;
  readonly level: ObservationLevel;
}

/** What an error looks like in an observation: no headers and no body, which may hold keys. */
export type ErrorSummary = Pick<ErrorInfo, 'name' | 'message' | 'code' | 'status' | 'operator'>;

/** How a turn got over a failure: the same call again, another credential, another model, or a shorter history. */
export type RecoveryAction = 'retry' | 'rotate' | 'fallback' | 'compact';

/** Identity of a turn, known from its start. */
export interface RunIdentity {
  /** The conversation: `metadata.sessionId` of the turn where it has one, else the session key as it is shown. */
  readonly sessionId: string;
  /** The session by its name, hashed unless it was asked for in the clear. */
  readonly sessionKey: string;
  /** The turn that asked for this one. */
  readonly parentRunId?: string | undefined;
  readonly harnessId?: string | undefined;
  readonly trigger: string;
  readonly channel?: string | undefined;
}

/** A turn has been admitted. */
export interface RunStarted extends ObservationBase, RunIdentity {
  readonly type: 'run.started';
  /** How long the turn waited before it was admitted. */
  readonly queueWaitMs: number;
  /** What the user said, where content was asked for. */
  readonly input?: string | undefined;
}

/** A turn is over: one of these for each turn. `run.error` where its outcome is `error`. */
export interface RunEnded extends ObservationBase, RunIdentity {
  readonly type: 'run.completed' | 'run.error';
  /** Of the last model call. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly queueWaitMs: number;
  /** From admission to the end, by a clock that never goes back. */
  readonly durationMs: number;
  readonly outcome: TurnOutcome;
  readonly reason?: string | undefined;
  readonly steps: number;
  /** Model calls, failed ones included. */
  readonly modelCalls: number;
  readonly failedModelCalls: number;
  /** What all model calls have used, failed ones and side questions included. */
  readonly usage: Usage;
  /** The share of the input that came from the provider's cache, from 0 to 1; absent without input. */
  readonly cacheHitRate?: number | undefined;
  /** In US dollars. Absent where the price of one call is unknown, or no prices were given. */
  readonly cost?: number | undefined;
  /** Bytes sent and received, divided by four: an estimate for a provider that counts nothing. Only where asked for. */
  readonly approximateTokens?: number | undefined;
  readonly toolCalls: number;
  readonly toolErrors: number;
  readonly compactionTriggered: boolean;
  /** Id of the credential of the last model call. Never a key. */
  readonly credentialProfileId?: string | undefined;
  readonly errorCode?: string | undefined;
  readonly error?: ErrorSummary | undefined;
  /** The last one, where the turn had to recover. */
  readonly recoveryAction?: RecoveryAction | undefined;
  /** Whether another model than the one that was asked first has answered. */
  readonly fallbackUsed: boolean;
  /** Pieces of answers. */
  readonly deltas: number;
  /** Notices of other packages, by subsystem. */
  readonly notices: Readonly<Record<string, number>>;
}

/** A step is over: a model call with its retries, and the tool calls that it asked for. */
export interface StepDone extends ObservationBase {
  readonly type: 'step.done';
  readonly step: number;
  readonly attempts: number;
  readonly toolCalls: number;
  readonly durationMs: number;
  readonly usage: Usage;
  readonly cost?: number | undefined;
}

/** A model call is over: one for each attempt. */
export interface ModelCalled extends ObservationBase {
  readonly type: 'model.call';
  readonly step: number;
  readonly attempt: number;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** The model that answered, as the provider names it. */
  readonly responseModel?: string | undefined;
  readonly responseId?: string | undefined;
  readonly credentialProfileId?: string | undefined;
  readonly durationMs: number;
  /** From the request to the first piece of the answer. */
  readonly firstDeltaMs?: number | undefined;
  readonly deltas: number;
  readonly usage: Usage;
  readonly cost?: number | undefined;
  readonly finishReason?: FinishReason | undefined;
  readonly error?: ErrorSummary | undefined;
  /** Failed, and asked again. */
  readonly retrying?: boolean | undefined;
  /** What the model said, where content was asked for. */
  readonly output?: string | undefined;
}

/** A tool call has its result. */
export interface ToolCalled extends ObservationBase {
  readonly type: 'tool.call';
  readonly step: number;
  readonly callId: string;
  readonly tool: string;
  readonly status: ToolStatus;
  /** As the tool driver measured it, else from the decision to the result. */
  readonly durationMs: number;
  /** Length of the text for the model, in characters. */
  readonly outputChars?: number | undefined;
  readonly error?: ErrorSummary | undefined;
  readonly deniedBy?: string | undefined;
  /** Input and output, where content was asked for. */
  readonly input?: string | undefined;
  readonly output?: string | undefined;
}

/**
 * Anything else that was said in a turn: notices of other packages by their own type (`compaction.done`,
 * `loop.warning`, `failover.switched`, `budget.near`, `security.…`, `cache.broken` …), approvals, messages that came
 * in, and `sink.failed`.
 */
export interface Noticed extends ObservationBase {
  readonly type: `${string}.${string}`;
  /** What the event carries, bounded, without content unless it was asked for. */
  readonly data: JSONObject;
}

/** What happened, as sinks get it: plain data. */
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
