import type { ErrorInfo } from '../contract/error-info.js';
import type { TurnEventOf, TurnEvents, TurnEventType } from '../contract/events.js';
import { MessageList } from '../contract/message-list.js';
import type { AssistantPart, Message, ToolCallPart, UserMessage } from '../contract/messages.js';
import type { FinishReason, ModelRequest, ModelResponse } from '../contract/model.js';
import type { ToolOutcome } from '../contract/tool.js';
import type { Usage } from '../contract/usage.js';

/** Builds an event with an envelope: turn `'turn-1'`, at 0. */
export const event = <Type extends TurnEventType>(
  type: Type,
  payload: TurnEvents[Type],
  envelope: { readonly turn?: string; readonly at?: number } = {},
): TurnEventOf<Type> =>
  ({ ...payload, type, turn: envelope.turn ?? 'turn-1', at: envelope.at ?? 0 }) as unknown as TurnEventOf<Type>;

export const user = (content: string): UserMessage => ({ role: 'user', content });

/** A tool call part. */
export const call = (id: string, name = 'noop', input: unknown = {}): ToolCallPart => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: name,
  input,
});

export const usage = (input = 10, output = 5): Usage => ({ input, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 });

/** Builds an answer from texts and calls. Its finish reason is `tool-calls` if it has calls, otherwise `stop`. */
export const response = (...parts: readonly (string | AssistantPart)[]): ModelResponse => {
  const content = parts.map((part): AssistantPart => (typeof part === 'string' ? { type: 'text', text: part } : part));
  const finishReason: FinishReason = content.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'stop';
  return { content, finishReason, usage: usage() };
};

/** A request with one user message. */
export const request = (
  changes: Partial<Omit<ModelRequest, 'messages'>> & { readonly messages?: readonly Message[] } = {},
): ModelRequest => ({
  system: [],
  tail: [],
  tools: [],
  settings: {},
  ...changes,
  messages: MessageList.of(changes.messages ?? [user('Hi')]),
});

export const failure = (message: string, more: Partial<ErrorInfo> = {}): ErrorInfo => ({
  name: 'Error',
  message,
  ...more,
});

/** An `ok` outcome with this text. */
export const ok = (value: string): ToolOutcome => ({ status: 'ok', output: { type: 'text', value } });
