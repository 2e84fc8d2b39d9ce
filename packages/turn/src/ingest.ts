import type { CallIds } from './call-ids.js';
import { messageSchema, type AssistantPart, type Message, type ToolPart } from './messages.js';
import { modelResponseSchema, type ModelResponse } from './model.js';
import { toolOutcomeSchema, type ToolOutcome } from './tool.js';
import type { Usage } from './usage.js';
import { checked } from './validation.js';
import { wellFormed } from './well-formed.js';

/**
 * A driver's answer, checked, and safe to store: no lone surrogates, and every call has an id of its own.
 *
 * Ids that were used before in the session are renamed.
 */
export const ingestResponse = (given: ModelResponse, ids: CallIds): ModelResponse => {
  const response = wellFormed(
    isObject(given) && isPlainResponse(given)
      ? given
      : checked(modelResponseSchema, given, 'The answer of the model driver'),
  );
  const content = ids.takeAll(response.content);
  return content === response.content ? response : { ...response, content };
};

/** A tool driver's outcome, checked and without lone surrogates. */
export const ingestOutcome = (given: ToolOutcome, name: string): ToolOutcome =>
  wellFormed(
    isObject(given) && isPlainOutcome(given)
      ? given
      : checked(toolOutcomeSchema, given, `The outcome of the tool ${JSON.stringify(name)}`),
  );

// The commonest forms are told at a glance, because the schemas copy what they check, and that is a good part of what
// a step costs. Whatever is not plainly right is the schemas' to judge.

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const isPlainResponse = ({ content, finishReason, usage, id, model, providerMetadata }: ModelResponse): boolean =>
  Array.isArray(content) &&
  content.every(isPlainPart) &&
  (finishReason === 'stop' || finishReason === 'tool-calls') &&
  isPlainUsage(usage) &&
  (id === undefined || typeof id === 'string') &&
  (model === undefined || typeof model === 'string') &&
  providerMetadata === undefined;

const isPlainPart = (part: AssistantPart): boolean => {
  if (!isObject(part)) return false;
  if (part.type === 'text') return typeof part.text === 'string' && part.providerOptions === undefined;
  return (
    part.type === 'tool-call' &&
    typeof part.toolCallId === 'string' &&
    typeof part.toolName === 'string' &&
    part.providerExecuted === undefined &&
    part.providerOptions === undefined
  );
};

const isPlainUsage = (usage: Usage): boolean =>
  isObject(usage) &&
  isCount(usage.input) &&
  isCount(usage.cacheRead) &&
  isCount(usage.cacheWrite) &&
  isCount(usage.output) &&
  isCount(usage.reasoning);

const isCount = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value < Infinity;

const isPlainOutcome = ({ status, output, durationMs, details }: ToolOutcome): boolean =>
  status === 'ok' &&
  isObject(output) &&
  output.type === 'text' &&
  typeof output.value === 'string' &&
  output.providerOptions === undefined &&
  (durationMs === undefined || isCount(durationMs)) &&
  details === undefined;

/**
 * Checks a history that was loaded.
 *
 * @throws InvalidInputError that names the place, the value there and what was expected
 */
export const checkHistory = (messages: Iterable<Message>): void => {
  let index = 0;
  for (const message of messages) {
    if (!isObject(message) || !isPlainMessage(message)) {
      checked(messageSchema, message, `Message ${index} of the loaded session`);
    }
    index += 1;
  }
};

const isPlainMessage = ({ role, content, providerOptions, metadata }: Message): boolean => {
  if (providerOptions !== undefined || metadata !== undefined) return false;
  if (role === 'user' || role === 'system') return typeof content === 'string';
  if (!Array.isArray(content)) return role === 'assistant' && typeof content === 'string';
  return role === 'assistant' ? content.every(isPlainPart) : role === 'tool' && content.every(isPlainResult);
};

const isPlainResult = (part: ToolPart): boolean =>
  isObject(part) &&
  part.type === 'tool-result' &&
  typeof part.toolCallId === 'string' &&
  typeof part.toolName === 'string' &&
  part.providerOptions === undefined &&
  isObject(part.output) &&
  (part.output.type === 'text' || part.output.type === 'error-text') &&
  typeof part.output.value === 'string' &&
  part.output.providerOptions === undefined;
