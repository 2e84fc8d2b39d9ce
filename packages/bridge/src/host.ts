import type {
  ApprovalDecision,
  Message,
  ModelDelta,
  ModelRequest,
  ModelResponse,
  ModelSettings,
  SystemBlock,
  ToolCall,
  ToolDefinition,
  ToolOutcome,
  TurnEnding,
  TurnEventOf,
} from '@h/turn';

/** Converts between the messages of a host and those of a turn. Unchanged messages are not converted back. */
export interface HostFormat<HostMessage> {
  /** Converts a message of the host, which is not a system message. */
  read(message: HostMessage): Message;
  /** Converts a message that an operator created or changed. */
  write(message: Message): readonly HostMessage[];
}

/** A model request as it left the operators, with the history in the format of the host. */
export interface HostModelRequest<HostMessage> extends Omit<ModelRequest, 'messages' | 'tail'> {
  /** The history, then the messages that operators added for this request only. */
  readonly messages: readonly HostMessage[];
  /** The number of messages of the history. A cache mark for messages (`cacheMessages`) applies to the last of them. */
  readonly historyLength: number;
}

/** The context of a model call. */
export interface HostModelContext {
  /** Aborted when the call is no longer needed. */
  readonly signal: AbortSignal;
  /** Passes a delta of the answer to the operators. */
  onDelta(delta: ModelDelta): void;
}

/** The return value of a model of the host. */
export interface HostModelReturn<Value> {
  readonly response: ModelResponse;
  /** The original value of the host's model. */
  readonly value: Value;
}

/** The answer to a model call, as it left the operators. */
export interface HostModelResult<Value> {
  readonly response: ModelResponse;
  /** The original value of the model; absent if an operator changed or continued the answer. */
  readonly returned?: { readonly value: Value } | undefined;
  /** How an operator ended the turn with this answer, such as the summary at a limit of steps. End the loop. */
  readonly ending?: TurnEnding | undefined;
}

/** A model call of the host. */
export interface HostModelCall<HostMessage, Value = unknown> {
  /** The whole history that the host would send, without system messages. */
  readonly messages: readonly HostMessage[];
  readonly system?: readonly SystemBlock[] | undefined;
  readonly tools?: readonly ToolDefinition[] | undefined;
  /** Names of further tools that the host runs. Operators do not see their definitions. */
  readonly otherTools?: readonly string[] | undefined;
  readonly settings?: ModelSettings | undefined;
  /** The name of the model. */
  readonly model?: string | undefined;
  /**
   * Identifies the run of the host's loop. A call with another value than the call before begins a new turn, unless it
   * only brings the results of calls that were open.
   */
  readonly run?: unknown;
  /** Cancels the turn. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Calls the model once. A rejection is a failed call, which operators may retry; see also {@link FailedModelCall}.
   */
  perform(request: HostModelRequest<HostMessage>, context: HostModelContext): Promise<HostModelReturn<Value>>;
  /** Receives the deltas that left the operators. If it throws, the call fails and its turn ends. */
  readonly onDelta?: ((delta: ModelDelta) => void) | undefined;
  /**
   * Whether the model may be called again after a failure. Return `false` once the host has emitted a part of the
   * answer, because it cannot be retracted.
   *
   * @defaultValue always
   */
  readonly canRestart?: (() => boolean) | undefined;
}

/** The return value of a tool of the host. */
export interface HostToolReturn<Value> {
  /** The outcome, as operators and the model read it. */
  readonly outcome: ToolOutcome;
  /** The original value of the host's tool. */
  readonly value: Value;
}

/** The result of a tool call, as it left the operators. */
export interface HostToolResult<Value> {
  readonly outcome: ToolOutcome;
  /** The original value of the tool; absent if an operator changed the output or the tool did not run. */
  readonly returned?: { readonly value: Value } | undefined;
}

/** A tool call of the host. */
export interface HostToolCall<Value> {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /**
   * Returns what the host passes for an input of the model: the same, or what a schema makes of it. Any other `input`,
   * any after a rejection, and any other `name` than that of the answer was changed by the host, such as by a repair of
   * an invalid call. Operators then decide on the changed call in a separate turn.
   *
   * @defaultValue the host changes no call
   */
  readonly parse?: ((input: unknown) => unknown) | undefined;
  /** Cancels the turn, or with `isSignalOwn` the call. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether `signal` may be aborted for this call only, such as by a timeout of the tool. The turn is then cancelled if
   * the signal of its latest model call is aborted, too.
   *
   * @defaultValue `false`
   */
  readonly isSignalOwn?: boolean | undefined;
  /**
   * Whether the host makes the other open calls of the step only after this one has its result. While operators wait for
   * the approval of another one, this call is made in a separate turn, because they cannot decide about all calls.
   *
   * @defaultValue `false`
   */
  readonly isMadeAlone?: boolean | undefined;
  /**
   * Runs the tool with the call as it left the operators. A rejection is a failed call.
   *
   * @param isChanged - whether an operator changed the input of the call
   */
  run(call: ToolCall, signal: AbortSignal, isChanged: boolean): Promise<HostToolReturn<Value>>;
  /**
   * Requests approval for this call, within the call. It may reject with a control-flow error of the host, such as an interrupt; the
   * call then stays open until the host repeats it.
   *
   * @defaultValue `approve` of the bridge
   */
  readonly approve?: Approve | undefined;
  /**
   * Schedules the end of the turn if the turn consists of this call only, for hosts that send the result first. A turn
   * that has not ended when the session ends is ended by the session.
   *
   * @defaultValue ends the turn before the result is returned
   */
  readonly scheduleEnd?: ((end: () => void) => void) | undefined;
}

/** Requests the approval of a person. The decision may be its name only, such as `'once'`. */
export type Approve = (request: TurnEventOf<'approval.request'>) => Promise<Approval> | Approval;

type Approval = ApprovalDecision | ApprovalDecision['decision'];

/** An approval request, and the answer of a person. */
export interface GivenApproval {
  readonly request: TurnEventOf<'approval.request'>;
  readonly approval: Approval;
}
