import type {
  ApprovalDecision,
  ErrorInfo,
  JSONObject,
  JSONValue,
  Message,
  ModelRequest,
  ToolCall,
  ToolOutcome,
  ToolResultOutput,
  TurnEvent,
  TurnOutcome,
  TurnTrigger,
  Usage,
  UserMessage,
} from '@h/turn';

/** The result of a handler: a value, a promise of it, or nothing. */
export type HookAnswer<Result> = Result | undefined | void | PromiseLike<Result | undefined | void>;

/** The context that every handler receives. */
export interface HookContext {
  readonly turn: string;
  readonly session: string;
  /** The number of the step, from 1; 0 before the first step. */
  readonly step: number;
  /** The time of the event in milliseconds since 1970, by the clock of the turn. */
  readonly at: number;
  readonly trigger: TurnTrigger;
  /** The metadata that the caller passed with the turn. */
  readonly metadata?: JSONObject | undefined;
  /** Aborted when the handler exceeds its time limit, the turn ends, or the caller unsubscribes. */
  readonly signal: AbortSignal;
  /** Emits the notice `hook.notice`. */
  readonly notify: (message: string, details?: JSONValue) => void;
}

/** Denies the turn, the message or the call. */
export interface Denial {
  readonly decision: 'deny';
  /** For the model if a call is denied, or for the user if the turn ends. */
  readonly reason: string;
}

/** Replies in place of the model; the turn ends with the outcome `replied`. */
export interface ShortReply {
  readonly decision?: undefined;
  readonly reply: string;
}

/** Adds context for the model. */
export interface AddedContext {
  readonly decision?: undefined;
  readonly context: string;
}

/** The input of a turn, before it is added to the history. */
export interface BeforeTurnContext extends HookContext {
  readonly input: readonly UserMessage[];
  /** The session's history, without the input. */
  readonly messages: Iterable<Message>;
}

/** Input that arrives during the turn, before it is added to the history. */
export interface BeforeSteeringContext extends HookContext {
  readonly input: readonly UserMessage[];
}

/** The first model request of a turn, before it is sent. */
export interface BeforeReplyContext extends HookContext {
  readonly request: ModelRequest;
}

/** A model request, before later operators change it. */
export interface BeforeModelContext extends HookContext {
  readonly request: ModelRequest;
  /** The number of the attempt, from 1; higher after retries of a failed call. */
  readonly attempt: number;
}

/** Replaces parts of a model request. */
export interface RequestChanges {
  readonly decision?: undefined;
  readonly request: Partial<Pick<ModelRequest, 'model' | 'settings' | 'system' | 'tail' | 'tools'>>;
}

/** A tool call of the model, with the input as changed by previous hooks. */
export interface BeforeToolContext extends HookContext {
  readonly call: ToolCall;
}

/**
 * The verdict of a gate on a tool call. A gate that returns nothing abstains.
 *
 * `deny` is final. `ask` requires an approval even if other gates allow the call. `allow` overrides the option
 * `otherwise` of `hooks()`; it overrides neither a denial nor an `ask`.
 */
export type ToolVerdict =
  | Denial
  | {
      readonly decision: 'ask';
      /** Shown to the user with the approval request. */
      readonly reason: string;
      /** Patterns that the user can allow for the session or permanently, such as `git push *`. */
      readonly patterns?: readonly string[] | undefined;
      /** Replaces the input of the call. The tool's schema validates it, and the other gates judge it again. */
      readonly input?: unknown;
      /** Added to the result of the call for the model. */
      readonly context?: string | undefined;
    }
  | {
      readonly decision?: 'allow' | undefined;
      readonly reason?: string | undefined;
      readonly input?: unknown;
      readonly context?: string | undefined;
    };

/** A call that ran, with the outcome as changed by previous hooks. */
export interface AfterToolContext extends HookContext {
  readonly call: ToolCall;
  /** The outcome, with the status `ok`, `stored`, `failed` or `timed-out`. */
  readonly outcome: ToolOutcome;
}

/** Changes to a result before the model reads it. `output` applies first, then `context`. */
export interface ResultChanges {
  /** Appended to the output. */
  readonly context?: string | undefined;
  /** Replaces the output. */
  readonly output?: string | ToolResultOutput | undefined;
}

/** The draft answer of a turn, after the model has finished. */
export interface BeforeEndContext extends HookContext {
  /** The text of the last model response. */
  readonly text: string;
  /** The history, including the draft. */
  readonly messages: Iterable<Message>;
  readonly usage: Usage;
  /** The number of times that this hook has continued the turn. */
  readonly sentBack: number;
}

/** Continues the turn. */
export interface SendBack {
  /** A text for the model, which becomes an internal user message; or complete messages. */
  readonly proceed: string | readonly Message[];
  /** The reason, for observers. */
  readonly reason?: string | undefined;
}

/** A turn that has ended. */
export interface AfterReplyContext extends HookContext {
  readonly outcome: TurnOutcome;
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
  readonly text: string;
  readonly messages: Iterable<Message>;
  readonly usage: Usage;
  readonly steps: number;
}

/** A failure of a model call (retried or not), of a tool, or of the turn. A limit that stops the turn is included. */
export interface OnErrorContext extends HookContext {
  readonly source: 'model' | 'tool' | 'turn';
  readonly error: ErrorInfo;
  /** The failed tool call, if the source is a tool. */
  readonly call?: ToolCall | undefined;
}

/** A compaction of the history. */
export interface OnCompactionContext extends HookContext {
  readonly phase: 'started' | 'done' | 'failed';
  /** The members of the notice, such as its trigger, tokens or reason. */
  readonly details: JSONObject;
}

/** A message that arrived during the turn. */
export interface OnSteeringContext extends HookContext {
  readonly id: string;
  readonly message: UserMessage;
}

/** A request for approval or its answer, of this operator or another. */
export interface OnApprovalContext extends HookContext {
  readonly phase: 'requested' | 'answered' | 'expired';
  readonly id: string;
  readonly reason: string;
  readonly call?: ToolCall | undefined;
  readonly answer?: ApprovalDecision | undefined;
}

/** A decision of a hook or a user about a turn. */
export interface OnDecisionContext extends HookContext {
  readonly kind: 'denied' | 'rewrote' | 'sent-back' | 'approved' | 'refused' | 'expired' | 'remembered';
  /** The name of the hook, if a hook decided. */
  readonly hook?: string | undefined;
  readonly reason?: string | undefined;
  /** The id of the tool call, if the decision is about a call. */
  readonly callId?: string | undefined;
}

/** The handlers of a hook, one for each point of a turn. */
export interface HookHandlers {
  /** Gate on the input of a turn, once per turn. A denial ends the turn as `blocked` without storing the input. */
  beforeTurn?(context: BeforeTurnContext): HookAnswer<Denial | ShortReply | AddedContext>;
  /** Gate on input that arrives during the turn. Denied input is not added to the history. */
  beforeSteering?(context: BeforeSteeringContext): HookAnswer<Denial | AddedContext>;
  /** Gate before the first model call, once per turn. It can reply in place of the model. */
  beforeReply?(context: BeforeReplyContext): HookAnswer<Denial | ShortReply>;
  /** Gate before each model call. A denial ends the turn as `blocked`. Added context is sent, but not stored. */
  beforeModel?(context: BeforeModelContext): HookAnswer<Denial | ShortReply | AddedContext | RequestChanges>;
  /** Gate before each tool call. */
  beforeTool?(context: BeforeToolContext): HookAnswer<ToolVerdict>;
  /**
   * Gate after each call that ran, one hook after another. By default, a failure leaves the result unchanged; see
   * `failure`.
   */
  afterTool?(context: AfterToolContext): HookAnswer<ResultChanges>;
  /** Gate after the model has finished. By default, the turn ends despite a failure; see `failure`. */
  beforeEnd?(context: BeforeEndContext): HookAnswer<SendBack>;
  /** Observer of the end of the turn. The turn waits for it, for at most `closeGraceMs` of the harness. */
  afterReply?(context: AfterReplyContext): HookAnswer<never>;
  /** Observer of errors. */
  onError?(context: OnErrorContext): HookAnswer<never>;
  /** Observer of `compaction()`. */
  onCompaction?(context: OnCompactionContext): HookAnswer<never>;
  /** Observer of input that arrives during the turn. */
  onSteering?(context: OnSteeringContext): HookAnswer<never>;
  /** Observer of approval requests and answers. */
  onApproval?(context: OnApprovalContext): HookAnswer<never>;
  /** Observer of decisions by hooks and users. */
  onDecision?(context: OnDecisionContext): HookAnswer<never>;
}

/** A point of a turn where a hook is called. */
export type HookPoint = keyof HookHandlers;

/** The effect of a gate that fails or exceeds its time limit: `closed` denies, `open` ignores it. */
export type HookFailure = 'closed' | 'open';

/**
 * A user-defined hook: functions that `hooks()` calls at fixed points of a turn.
 *
 * Contract:
 * - Handlers are synchronous or asynchronous, and can return nothing.
 * - Gates run one after another, by priority; after a denial, the remaining gates do not run. A synchronous gate adds
 *   no microtask.
 * - Observers run concurrently; only the end of the turn waits for them.
 * - A handler that throws or exceeds its time limit never breaks the turn: a gate then denies, an observer is ignored,
 *   and the notice `hook.failed` names it.
 */
export interface Hook extends HookHandlers {
  /** The name of the hook in denials and notices. */
  readonly name: string;
  /**
   * Hooks with a higher priority run first; hooks with the same priority run in the order of the list.
   *
   * @defaultValue `0`
   */
  readonly priority?: number | undefined;
  /**
   * Time limit of each handler in milliseconds, for all points or by point. `Infinity` disables the limit.
   *
   * @defaultValue the options `gateTimeoutMs` and `observerTimeoutMs` of `hooks()`
   */
  readonly timeoutMs?: number | Readonly<Partial<Record<HookPoint, number>>> | undefined;
  /**
   * Whether a gate that fails denies (`closed`) or is ignored (`open`).
   *
   * @defaultValue `closed`, and `open` for `afterTool` and `beforeEnd`
   */
  readonly failure?: HookFailure | Readonly<Partial<Record<HookPoint, HookFailure>>> | undefined;
  /**
   * Receives each recorded event of a resumed turn, so that a stateful hook can restore its state. It must be
   * synchronous; its result is ignored.
   */
  readonly onReplay?: ((event: TurnEvent) => void) | undefined;
}

/** A hook, or for stateful hooks a function that creates a new hook for every turn. */
export type HookSource = Hook | (() => Hook);
