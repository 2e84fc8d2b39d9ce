import type { CallIds } from './call-ids.js';
import { messageSchema, type AssistantPart, type Message, type ToolPart } from './messages.js';
import { modelResponseSchema, type ModelResponse } from './model.js';
import { toolOutcomeSchema, type ToolOutcome } from './tool.js';
import type { Usage } from './usage.js';
import { checked } from './validation.js';
import { wellFormed } from './well-formed.js';

/**
 * Checks a driver's answer and makes it safe to store: replaces lone surrogates and gives every call a unique id.
 */
export const ingestResponse = (given: ModelResponse, ids: CallIds): ModelResponse => {
  const deep = isObject(given) && Array.isArray(given.content) ? deepCalls(given.content) : [];
  const usable = deep.length === 0 ? given : withoutInputs(given, deep);
  const response = wellFormed(
    isObject(usable) && isPlainResponse(usable)
      ? usable
      : checked(modelResponseSchema, usable, 'The answer of the model driver'),
  );
  const content = ids.claimAll(response.content);
  if (content === response.content && deep.length === 0) return response;
  return deep.length === 0 ? { ...response, content } : { ...response, content, invalidCalls: tooDeep(content, deep) };
};

/**
 * The deepest input of a call. JSON and schema libraries recurse: V8's stack holds several thousand levels, and the
 * schemas of tools nest a few dozen.
 */
const maxInputDepth = 500;

/** Finds the calls whose input is nested too deeply to be checked and stored. */
const deepCalls = (content: readonly AssistantPart[]): readonly number[] =>
  content.flatMap((part, index) =>
    isObject(part) && part.type === 'tool-call' && isDeeperThan(part.input, maxInputDepth) ? [index] : [],
  );

const withoutInputs = (response: ModelResponse, places: readonly number[]): ModelResponse => ({
  ...response,
  content: response.content.map((part, index) => (places.includes(index) ? { ...part, input: {} } : part)),
});

const tooDeep = (content: readonly AssistantPart[], places: readonly number[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    places.flatMap((place) => {
      const part = content[place];
      const reason = `The input is nested more than ${maxInputDepth} levels deep. Call the tool again with a flatter input.`;
      return part?.type === 'tool-call' ? [[part.toolCallId, reason]] : [];
    }),
  );

/** Whether a value is nested deeper than this number of levels. Recurses no deeper than that. */
const isDeeperThan = (value: unknown, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const key in value) if (isDeeperThan(value[key as keyof typeof value], levels - 1)) return true;
  return false;
};

/** Checks the outcome of a tool driver and replaces lone surrogates. */
export const ingestOutcome = (given: ToolOutcome, name: string): ToolOutcome =>
  wellFormed(
    isObject(given) && isPlainOutcome(given)
      ? given
      : checked(toolOutcomeSchema, given, `The outcome of the tool ${JSON.stringify(name)}`),
  );

// The most common shapes are recognized here, because a schema copies what it checks and would dominate the overhead of a step.
// The schemas decide about every other shape.

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
