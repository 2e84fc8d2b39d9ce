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

/** What a handler may answer: at once, later, or nothing at all. */
export type HookAnswer<Result> = Result | undefined | void | PromiseLike<Result | undefined | void>;

/** What every handler receives. */
export interface HookContext {
  readonly turn: string;
  readonly session: string;
  /** Number of the step, from 1; 0 before the first. */
  readonly step: number;
  /** When it happened, as milliseconds since 1970, by the turn's clock. */
  readonly at: number;
  readonly trigger: TurnTrigger;
  /** What the caller of the turn gave with it. */
  readonly metadata?: JSONObject | undefined;
  /** Aborted when the handler's time is up, when the turn is over and when its subscriber has left. */
  readonly signal: AbortSignal;
  /** Emits the notice `hook.notice`. */
  readonly notify: (message: string, details?: JSONValue) => void;
}

/** Refuses. */
export interface Denial {
  readonly decision: 'deny';
  /** Read by the model, or by the user whose turn ends here. */
  readonly reason: string;
}

/** Answers instead of the model; the turn ends with the outcome `replied`. */
export interface ShortReply {
  readonly decision?: undefined;
  readonly reply: string;
}

/** Gives the model something to read. */
export interface AddedContext {
  readonly decision?: undefined;
  readonly context: string;
}

/** The input that begins a turn, before it joins the history. */
export interface BeforeTurnContext extends HookContext {
  readonly input: readonly UserMessage[];
  /** The session's history, without the input. */
  readonly messages: Iterable<Message>;
}

/** What came in while the turn runs, before it joins the history. */
export interface BeforeSteeringContext extends HookContext {
  readonly input: readonly UserMessage[];
}

/** The first request of a turn, before the model is asked. */
export interface BeforeReplyContext extends HookContext {
  readonly request: ModelRequest;
}

/** A request, before any later operator has shaped it. */
export interface BeforeModelContext extends HookContext {
  readonly request: ModelRequest;
  /** From 1; more when a failed call is asked again. */
  readonly attempt: number;
}

/** Other values for these parts of a request. */
export interface RequestChanges {
  readonly decision?: undefined;
  readonly request: Partial<Pick<ModelRequest, 'model' | 'settings' | 'system' | 'tail' | 'tools'>>;
}

/** A call that the model asks for, with the input that hooks before this one have given it. */
export interface BeforeToolContext extends HookContext {
  readonly call: ToolCall;
}

/**
 * What a gate says about a tool call. Nothing is no opinion.
 *
 * `deny` is final. `ask` requires an approval, whatever others allow. `allow` spares the question that the option
 * `otherwise` of `hooks()` may put; it undoes neither a denial nor an `ask`.
 */
export type ToolVerdict =
  | Denial
  | {
      readonly decision: 'ask';
      /** Read by the user who is asked. */
      readonly reason: string;
      /** Patterns that the user may choose to allow for longer, like `git push *`. */
      readonly patterns?: readonly string[] | undefined;
      /** Another input for the call. It is validated, and judged by all gates, as if the model had given it. */
      readonly input?: unknown;
      /** Read by the model with the call's result. */
      readonly context?: string | undefined;
    }
  | {
      readonly decision?: 'allow' | undefined;
      readonly reason?: string | undefined;
      readonly input?: unknown;
      readonly context?: string | undefined;
    };

/** A call that has run, with the outcome that hooks before this one have made of it. */
export interface AfterToolContext extends HookContext {
  readonly call: ToolCall;
  /** Of a call that ran: `ok`, `stored`, `failed` or `timed-out`. */
  readonly outcome: ToolOutcome;
}

/** What becomes of a result before the model reads it: the output is replaced first, then the context is added. */
export interface ResultChanges {
  /** Added behind the output. */
  readonly context?: string | undefined;
  /** Takes the place of the output. */
  readonly output?: string | ToolResultOutput | undefined;
}

/** The draft answer of a turn whose model is done. */
export interface BeforeEndContext extends HookContext {
  /** What the model said last. */
  readonly text: string;
  /** The history, the draft included. */
  readonly messages: Iterable<Message>;
  readonly usage: Usage;
  /** How often this hook has sent the turn back already. */
  readonly sentBack: number;
}

/** Sends the turn back to work. */
export interface SendBack {
  /** Text for the model, as a message of the harness; or whole messages. */
  readonly proceed: string | readonly Message[];
  /** Why, for observers. */
  readonly reason?: string | undefined;
}

/** A turn that is over. */
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
  /** The call that failed, if it was a call. */
  readonly call?: ToolCall | undefined;
}

/** A compaction of the history. */
export interface OnCompactionContext extends HookContext {
  readonly phase: 'started' | 'done' | 'failed';
  /** What the notice says: its trigger, tokens, reason … */
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
  /** The hook that decided, if it was a hook. */
  readonly hook?: string | undefined;
  readonly reason?: string | undefined;
  /** The tool call that it is about, if any. */
  readonly callId?: string | undefined;
}

/** The points of a turn where a hook is called. */
export interface HookHandlers {
  /** Gate, once a turn, on its input. A denial ends the turn `blocked`, and the input is not stored. */
  beforeTurn?(context: BeforeTurnContext): HookAnswer<Denial | ShortReply | AddedContext>;
  /** Gate on input that came in while the turn runs. A denial keeps it out of the history. */
  beforeSteering?(context: BeforeSteeringContext): HookAnswer<Denial | AddedContext>;
  /** Gate, once a turn, before the model is asked for the first time; it may answer instead. */
  beforeReply?(context: BeforeReplyContext): HookAnswer<Denial | ShortReply>;
  /** Gate before each model call. A denial ends the turn `blocked`; added context is sent and not stored. */
  beforeModel?(context: BeforeModelContext): HookAnswer<Denial | ShortReply | AddedContext | RequestChanges>;
  /** Gate before each tool call. */
  beforeTool?(context: BeforeToolContext): HookAnswer<ToolVerdict>;
  /**
   * After each call that ran, one hook after the other. Where it fails the result passes as it is, unless `failure`
   * says otherwise.
   */
  afterTool?(context: AfterToolContext): HookAnswer<ResultChanges>;
  /** Gate when the model is done. Where it fails the turn ends, unless `failure` says otherwise. */
  beforeEnd?(context: BeforeEndContext): HookAnswer<SendBack>;
  /** Observer, when the turn is over. The end waits for it, as long as the harness lets it (`closeGraceMs`). */
  afterReply?(context: AfterReplyContext): HookAnswer<never>;
  /** Observer. */
  onError?(context: OnErrorContext): HookAnswer<never>;
  /** Observer of `compaction()`. */
  onCompaction?(context: OnCompactionContext): HookAnswer<never>;
  /** Observer. */
  onSteering?(context: OnSteeringContext): HookAnswer<never>;
  /** Observer. */
  onApproval?(context: OnApprovalContext): HookAnswer<never>;
  /** Observer. */
  onDecision?(context: OnDecisionContext): HookAnswer<never>;
}

/** A point of a turn where a hook is called. */
export type HookPoint = keyof HookHandlers;

/** What happens when a gate throws or takes too long. */
export type HookFailure = 'closed' | 'open';

/**
 * A user-defined hook: functions that are called at fixed points of a turn.
 *
 * Contract:
 * - Handlers are synchronous or asynchronous, and may answer nothing.
 * - Gates are asked one after the other, by priority; the first denial wins and the rest is not asked. A synchronous
 *   gate
 *   costs no microtask.
 * - Observers run side by side, and nothing waits for them before the end of the turn.
 * - A handler that throws or exceeds its time limit never breaks the turn: a gate then denies, an observer is ignored,
 *   and the notice `hook.failed` names it.
 */
export interface Hook extends HookHandlers {
  /** Names it in denials and notices. */
  readonly name: string;
  /**
   * Higher ones go first, equal ones in the order of the list.
   *
   * @defaultValue `0`
   */
  readonly priority?: number | undefined;
  /**
   * How long each of its handlers may take, in milliseconds, or so for each point. `Infinity` disables the limit.
   *
   * @defaultValue the options `gateTimeoutMs` and `observerTimeoutMs` of `hooks()`
   */
  readonly timeoutMs?: number | Readonly<Partial<Record<HookPoint, number>>> | undefined;
  /**
   * Whether a gate that fails denies (`closed`) or is ignored (`open`).
   *
   * @defaultValue `closed`; for `afterTool` and `beforeEnd` `open`
   */
  readonly failure?: HookFailure | Readonly<Partial<Record<HookPoint, HookFailure>>> | undefined;
  /**
   * Shown each recorded event of a turn that is resumed, so that a hook which remembers something finds it again. It is
   * synchronous and changes nothing.
   */
  readonly onReplay?: ((event: TurnEvent) => void) | undefined;
}

/** A hook, or a function that makes a fresh one for every turn, for hooks that remember something. */
export type HookSource = Hook | (() => Hook);
