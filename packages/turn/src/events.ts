import type { MonoTypeOperatorFunction } from 'rxjs';
import type { ErrorInfo } from './error-info.js';
import type { JSONObject, JSONValue } from './json.js';
import type { MessageList } from './message-list.js';
import type { Message, UserMessage } from './messages.js';
import type { ModelDelta, ModelRequest, ModelResponse } from './model.js';
import type { Repair } from './repair.js';
import type { ToolCall, ToolOutcome } from './tool.js';
import type { Usage } from './usage.js';

/** How a turn ended. */
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

/** What a turn is doing. */
export type TurnState = 'queued' | 'running' | 'waiting-for-tool' | 'waiting-for-input';

/** What set a turn off. Other words than these are allowed. */
export type TurnTrigger = 'user' | 'manual' | 'cron' | 'heartbeat' | 'memory' | 'subagent' | (string & {});

/** How urgent a turn is, compared with others that wait. */
export type TurnPriority = 'foreground' | 'normal' | 'background';

/** A person's answer to a request for approval. */
export interface ApprovalDecision {
  readonly decision: 'once' | 'session' | 'always' | 'deny';
  /** What else the answer covers, for `session` and `always`. */
  readonly pattern?: string | undefined;
  readonly reason?: string | undefined;
}

/** Where an entry of the history comes from: the runner's own steps, or the name of the operator that adds it. */
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

  /** Somebody wants a turn. Held by `queue()` until it is admitted; nothing is loaded before it has left. */
  'turn.start': {
    readonly session: string;
    readonly input: readonly UserMessage[];
    readonly trigger: TurnTrigger;
    readonly priority?: TurnPriority | undefined;
    readonly metadata?: JSONObject | undefined;
  };
  /** The turn was admitted and its session is open: the history, and what operators left in `session.state`. */
  'session.loaded': {
    readonly session: string;
    readonly messages: MessageList;
    readonly state: Readonly<Record<string, JSONValue>>;
    readonly repairs: readonly Repair[];
  };
  /** A piece of an answer. Handlers are synchronous. Not journaled. */
  'model.delta': { readonly step: number; readonly attempt: number; readonly delta: ModelDelta };
  'model.response': { readonly step: number; readonly attempt: number } & ModelResponse;
  /**
   * A model call failed. It ends the turn when it leaves, unless `retrying` says that an operator has taken it in hand
   * and will ask again.
   */
  'model.error': {
    readonly step: number;
    readonly attempt: number;
    readonly error: ErrorInfo;
    readonly usage?: Usage | undefined;
    readonly retrying?: boolean | undefined;
  };
  /** A tool reports while it runs. Not journaled. */
  'tool.progress': { readonly step: number; readonly call: ToolCall; readonly progress: JSONValue };
  'tool.result': { readonly step: number; readonly call: ToolCall } & ToolOutcome;
  /** A message came in while the turn runs. It is delivered at the next step boundary. */
  'input.received': { readonly id: string; readonly message: UserMessage };
  'approval.answer': { readonly id: string } & ApprovalDecision;
  /** The turn is over. Exactly once, always last. */
  'turn.end': {
    readonly outcome: TurnOutcome;
    readonly reason?: string | undefined;
    readonly error?: ErrorInfo | undefined;
    readonly steps: number;
    readonly usage: Usage;
    /** Input that was received but not delivered: it is not in the history, and whoever sent it may send it again. */
    readonly undelivered?: readonly UserMessage[] | undefined;
  };

  // Commands: what shall happen. What leaves at the bottom is performed.

  'model.request': { readonly step: number; readonly attempt: number } & ModelRequest;
  /** A call that the model asks for. With `denied` it is not run, and its result says so. */
  'tool.call': {
    readonly step: number;
    /** Place in the model's message, from 0. */
    readonly index: number;
    readonly call: ToolCall;
    readonly denied?: { readonly reason: string; readonly by?: string | undefined } | undefined;
  };
  /**
   * Adds to the history. What an operator adds while tools run comes after their results, and is repaired where it is not
   * in order by itself.
   */
  'history.append': {
    readonly messages: readonly Message[];
    readonly origin: HistoryOrigin;
    /** Ids of the `input.received` events that these messages deliver. */
    readonly delivers?: readonly string[] | undefined;
  };
  /** The whole history from now on, repaired where it is not in order. It means nothing while tools run. */
  'history.replace': { readonly messages: readonly Message[]; readonly origin: HistoryOrigin };
  /** Asks a person. Whoever emits it holds the call until `approval.answer` comes. */
  'approval.request': {
    readonly id: string;
    readonly reason: string;
    readonly call?: ToolCall | undefined;
    /** When it expires, as milliseconds since 1970. */
    readonly expiresAt?: number | undefined;
  };
  /** Keeps a small value for the session's next turn, which finds it in `session.loaded`. `null` removes it. */
  'session.state': { readonly key: string; readonly value: JSONValue };
  /** Goes on with another step instead of ending, after adding these messages. */
  'turn.continue': { readonly messages: readonly Message[]; readonly reason: string };
  /**
   * Ends the turn. The runner sends it itself when the model is done or has failed, so that an operator can answer
   * `turn.continue`; a stop of anybody else stays.
   */
  'turn.stop': {
    readonly outcome: TurnOutcome;
    readonly reason?: string | undefined;
    readonly error?: ErrorInfo | undefined;
    /** Set where the model was done, or failed, in this step: the stop is void if the turn has gone on since. */
    readonly afterStep?: number | undefined;
  };

  // Notices of the runner.

  /** An event left that means nothing where the turn stands: a second answer, a result for an unknown call. */
  'event.ignored': { readonly event: string; readonly reason: string };
}

export type TurnEventType = keyof TurnEvents;

/** What every event carries. */
export interface Envelope {
  /** Id of the turn. */
  readonly turn: string;
  /** When it happened, as milliseconds since 1970. */
  readonly at: number;
  /** Shown again after a crash: it has happened, and is only to be learnt from. */
  readonly replayed?: true | undefined;
  /** What operators want to find again on replay, each under its own name. */
  readonly annotations?: JSONObject | undefined;
}

/** The event of this name. */
export type TurnEventOf<Type extends TurnEventType> = Type extends TurnEventType
  ? { readonly type: Type } & Envelope & TurnEvents[Type]
  : never;

/** Any event of a turn. */
export type TurnEvent = TurnEventOf<TurnEventType>;

/** How a turn has ended. */
export type TurnEnding = Pick<TurnEventOf<'turn.end'>, 'outcome' | 'reason' | 'error'>;

/** An event that has no envelope yet; it gets the one of the event that it answers. */
export type NewEventOf<Type extends TurnEventType> = Type extends TurnEventType
  ? { readonly type: Type } & Partial<Envelope> & TurnEvents[Type]
  : never;

/** Any event that has no envelope yet. */
export type NewEvent = NewEventOf<TurnEventType>;

/** What every package is: a plain RxJS operator on the stream of a turn. */
export type TurnOperator = MonoTypeOperatorFunction<TurnEvent>;
