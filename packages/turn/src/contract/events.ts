import type { MonoTypeOperatorFunction } from 'rxjs';
import type { ErrorInfo } from './error-info.js';
import type { JSONObject, JSONValue } from './json.js';
import type { MessageList } from './message-list.js';
import type { Message, Repair, UserMessage } from './messages.js';
import type { ModelDelta, ModelRequest, ModelResponse } from './model.js';
import type { ToolCall, ToolOutcome } from './tool.js';
import type { Usage } from './usage.js';

/** The outcome of a turn. */
export type TurnOutcome =
  | 'completed'
  | 'replied'
  | 'cancelled'
  | 'timed-out'
  | 'max-steps'
  | 'budget-exceeded'
  | 'loop-detected'
  | 'blocked'
  | 'error';

/** The current activity of a turn. */
export type TurnState = 'queued' | 'running' | 'waiting-for-tool' | 'waiting-for-input';

/** The origin of a turn. Other strings are allowed. */
export type TurnTrigger = 'user' | 'manual' | 'cron' | 'heartbeat' | 'memory' | 'subagent' | (string & {});

/** The urgency of a turn, compared with other waiting turns. */
export type TurnPriority = 'foreground' | 'normal' | 'background';

/** The answer of a person to an approval request. */
export interface ApprovalDecision {
  readonly decision: 'once' | 'session' | 'always' | 'deny';
  /** The calls that the answer also covers, for `session` and `always`. */
  readonly pattern?: string | undefined;
  readonly reason?: string | undefined;
}

/** The origin of a history entry: a step of the runner, or the name of the operator that adds it. */
export type HistoryOrigin = 'input' | 'response' | 'results' | 'steering' | 'continue' | (string & {});

/**
 * All events, by name. A package adds its own notices by declaration merging.
 *
 * @example
 * ```ts
 * declare module '@h/turn' {
 *   interface TurnEvents {
 *     'weather.changed': { readonly sky: string };
 *   }
 * }
 * ```
 */
export interface TurnEvents {
  // Facts: what happened. They enter at the top.

  /** Requests a turn. `queue()` holds it until a slot is free; the session is loaded afterwards. */
  'turn.start': {
    readonly session: string;
    readonly input: readonly UserMessage[];
    readonly trigger: TurnTrigger;
    readonly priority?: TurnPriority | undefined;
    readonly metadata?: JSONObject | undefined;
  };
  /** The turn was admitted and its session is open: its history, and the values stored with `session.state`. */
  'session.loaded': {
    readonly session: string;
    readonly messages: MessageList;
    readonly state: Readonly<Record<string, JSONValue>>;
    readonly repairs: readonly Repair[];
  };
  /** A part of an answer. Handlers are synchronous. Not journaled. */
  'model.delta': { readonly step: number; readonly attempt: number; readonly delta: ModelDelta };
  'model.response': { readonly step: number; readonly attempt: number } & ModelResponse;
  /**
   * A model call failed. The turn ends when the event leaves, unless `retrying` is set: then the runner sends the
   * request again.
   */
  'model.error': {
    readonly step: number;
    readonly attempt: number;
    readonly error: ErrorInfo;
    readonly usage?: Usage | undefined;
    readonly retrying?: boolean | undefined;
  };
  /** Progress of a running tool. Not journaled. */
  'tool.progress': { readonly step: number; readonly call: ToolCall; readonly progress: JSONValue };
  'tool.result': { readonly step: number; readonly call: ToolCall } & ToolOutcome;
  /** A message arrived while the turn was running. It is delivered at the next step boundary. */
  'input.received': { readonly id: string; readonly message: UserMessage };
  'approval.answer': { readonly id: string } & ApprovalDecision;
  /** The turn has ended. Emitted exactly once, as the last event. */
  'turn.end': {
    readonly outcome: TurnOutcome;
    readonly reason?: string | undefined;
    readonly error?: ErrorInfo | undefined;
    readonly steps: number;
    readonly usage: Usage;
    /**
     * Messages that were received but not delivered: they are not in the history, and the sender may send them again.
     */
    readonly undelivered?: readonly UserMessage[] | undefined;
  };

  // Commands: what the runner should do. Events that leave at the bottom are performed.

  'model.request': { readonly step: number; readonly attempt: number } & ModelRequest;
  /** A tool call of the model. With `denied` it does not run, and its result contains the reason. */
  'tool.call': {
    readonly step: number;
    /** Position in the model's message, from 0. */
    readonly index: number;
    readonly call: ToolCall;
    readonly denied?: { readonly reason: string; readonly by?: string | undefined } | undefined;
  };
  /**
   * Adds to the history. Messages that an operator adds while tools run are placed after their results. The runner
   * repairs messages that are not valid there.
   */
  'history.append': {
    readonly messages: readonly Message[];
    readonly origin: HistoryOrigin;
    /** Ids of the `input.received` events that these messages deliver. */
    readonly delivers?: readonly string[] | undefined;
  };
  /** Replaces the whole history; the runner repairs it if it is not valid. Ignored while tools run. */
  'history.replace': { readonly messages: readonly Message[]; readonly origin: HistoryOrigin };
  /** Requests an approval. The operator that emits it holds the call until `approval.answer` arrives. */
  'approval.request': {
    readonly id: string;
    readonly reason: string;
    readonly call?: ToolCall | undefined;
    /** Expiry time in milliseconds since 1970. */
    readonly expiresAt?: number | undefined;
  };
  /** Stores a small value for the next turn of the session, which finds it in `session.loaded`. `null` removes it. */
  'session.state': { readonly key: string; readonly value: JSONValue };
  /** Continues with another step instead of ending, after adding these messages. */
  'turn.continue': { readonly messages: readonly Message[]; readonly reason: string };
  /**
   * Ends the turn. The runner sends it when the model is done or has failed; an operator can answer that one with
   * `turn.continue`. A stop from an operator or the caller is final.
   */
  'turn.stop': {
    readonly outcome: TurnOutcome;
    readonly reason?: string | undefined;
    readonly error?: ErrorInfo | undefined;
    /** Set if the model was done or failed in this step: the stop is void if the turn has continued since. */
    readonly afterStep?: number | undefined;
  };

  // Notices of the runner.

  /** An event left that the current state does not accept: a second answer, a result for an unknown call. */
  'event.ignored': { readonly event: string; readonly reason: string };
}

export type TurnEventType = keyof TurnEvents;

/** The fields of every event. */
export interface Envelope {
  /** Id of the turn. */
  readonly turn: string;
  /** Time of the event in milliseconds since 1970. */
  readonly at: number;
  /** Set on events of the past that a resumed turn emits again to its subscriber. */
  readonly replayed?: true | undefined;
  /** Values that operators attached to be journaled with the event, by operator name. */
  readonly annotations?: JSONObject | undefined;
}

/** The event of this type. */
export type TurnEventOf<Type extends TurnEventType> = Type extends TurnEventType
  ? { readonly type: Type } & Envelope & TurnEvents[Type]
  : never;

export type TurnEvent = TurnEventOf<TurnEventType>;

/** The end of a turn. */
export type TurnEnding = Pick<TurnEventOf<'turn.end'>, 'outcome' | 'reason' | 'error'>;

/** An event without an envelope; it gets that of the event that it answers. */
export type NewEventOf<Type extends TurnEventType> = Type extends TurnEventType
  ? { readonly type: Type } & Partial<Envelope> & TurnEvents[Type]
  : never;

/** Any event without an envelope. */
export type NewEvent = NewEventOf<TurnEventType>;

/** The type of every operator: a plain RxJS operator on the stream of a turn. */
export type TurnOperator = MonoTypeOperatorFunction<TurnEvent>;
