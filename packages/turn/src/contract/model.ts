import type { ObservableInput } from 'rxjs';
import type { ErrorInfo } from './error-info.js';
import type { JSONObject } from './json.js';
import type { MessageList } from './message-list.js';
import type { AssistantPart, Message, ProviderOptions } from './messages.js';
import type { ToolDefinition } from './tool.js';
import type { Usage } from './usage.js';

/** Why a model stopped, named as in the AI SDK. */
export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** Asks the provider to cache everything up to this point, for five minutes unless `ttl` is an hour. */
export interface CacheMark {
  readonly ttl?: '5m' | '1h' | undefined;
}

/** A block of the system prompt. */
export interface SystemBlock {
  readonly text: string;
  readonly cache?: CacheMark | undefined;
}

/** Settings of a model call, named as in the AI SDK. */
export interface ModelSettings {
  /** The maximum number of tokens of the answer. */
  readonly maxOutputTokens?: number | undefined;
  /** The randomness of the answer, in the range of the provider. */
  readonly temperature?: number | undefined;
  /** The share of probability from which tokens are sampled. */
  readonly topP?: number | undefined;
  /** The number of tokens from which each is sampled. */
  readonly topK?: number | undefined;
  /** How much tokens are avoided that have occurred. */
  readonly presencePenalty?: number | undefined;
  /** How much tokens are avoided that have occurred often. */
  readonly frequencyPenalty?: number | undefined;
  /** Texts at which the answer ends. */
  readonly stopSequences?: readonly string[] | undefined;
  /** Makes answers repeatable, for models that support it. */
  readonly seed?: number | undefined;
  /** Whether the model may, must not or must call a tool, or the tool that it must call. */
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly toolName: string } | undefined;
  /** The reasoning effort, for models that support it. */
  readonly reasoning?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max' | undefined;
  /** Options by provider, which its driver passes on. */
  readonly providerOptions?: ProviderOptions | undefined;
}

/**
 * One model call, as plain data.
 *
 * The provider receives `system`, then `messages`, then `tail`. Content that changes between calls (the time,
 * progress, memory) belongs in `tail`: it is not part of the history and leaves the prompt cache of everything before
 * it valid.
 */
export interface ModelRequest {
  /** The name of the model, as the driver knows it; the driver's default if absent. */
  readonly model?: string | undefined;
  /** Id of the credential to use. Never a key. */
  readonly credential?: string | undefined;
  readonly system: readonly SystemBlock[];
  /** The session's history. */
  readonly messages: MessageList;
  readonly tail: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly settings: ModelSettings;
  /** Puts a cache breakpoint on the last message of the history. */
  readonly cacheMessages?: CacheMark | undefined;
}

/** A complete answer. */
export interface ModelResponse {
  /** Calls with unusable input, by id, and the reason. They do not run and are answered `invalid-input`. */
  readonly invalidCalls?: Readonly<Record<string, string>> | undefined;
  readonly content: readonly AssistantPart[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  /** The provider's id of the answer. */
  readonly id?: string | undefined;
  /** The model that answered, as the provider names it. */
  readonly model?: string | undefined;
  readonly providerMetadata?: JSONObject | undefined;
}

/** A part of an answer while it streams. */
export type ModelDelta =
  | { readonly type: 'text' | 'reasoning'; readonly text: string; readonly id?: string | undefined }
  | { readonly type: 'tool-input'; readonly toolCallId: string; readonly toolName: string; readonly text: string };

/** An output of a model driver: deltas, then one `response` or one `error`. */
export type ModelDriverOutput =
  | { readonly type: 'delta'; readonly delta: ModelDelta }
  | { readonly type: 'response'; readonly response: ModelResponse }
  | { readonly type: 'error'; readonly error: ErrorInfo; readonly usage?: Usage | undefined };

/** The turn that a model driver works for. */
export interface ModelCallContext {
  readonly turn: string;
  readonly session: string;
  readonly step: number;
  readonly attempt: number;
  /**
   * When the turn will be ended, in milliseconds since 1970: the earliest deadline that an operator has set, now.
   * `undefined` without one. It may change while the call runs.
   */
  readonly deadlineAt?: number | undefined;
  /** Aborted when the call is no longer needed. */
  readonly signal: AbortSignal;
}

/**
 * Calls a model.
 *
 * Contract:
 * - Each call emits one `response` or `error`, last. Completing without either counts as an error (code
 *   `'incomplete-stream'`), as does an error notification.
 * - A driver never retries; operators decide about retries.
 * - Unsubscribing ends the call and closes its connection.
 */
export type ModelDriver = (request: ModelRequest, context: ModelCallContext) => ObservableInput<ModelDriverOutput>;
