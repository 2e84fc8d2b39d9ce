import type { CallIds } from '../transcript/call-ids.js';
import { checked } from '../checks/data-checks.js';
import { modelResponse, toolOutcome } from '../checks/event-checks.js';
import type { AssistantPart, ToolCallPart } from '../contract/messages.js';
import type { ModelResponse } from '../contract/model.js';
import type { ToolCall, ToolOutcome } from '../contract/tool.js';
import { wellFormed } from '../transcript/well-formed.js';

/**
 * Checks a driver's answer and makes it safe to store: replaces lone surrogates and gives every call a unique id.
 */
export const ingestResponse = (given: ModelResponse, ids: CallIds): ModelResponse => {
  const deep = isObject(given) && Array.isArray(given.content) ? deepCalls(given.content) : [];
  const usable = deep.length === 0 ? given : withoutInputs(given, deep);
  const response = wellFormed(checked(modelResponse, usable, 'The model driver', 'response'));
  const content = ids.claimAll(response.content);
  if (content === response.content && deep.length === 0) return response;
  const isValid = deep.length === 0 && response.invalidCalls === undefined;
  return { ...response, content, ...(!isValid && { invalidCalls: invalidCalls(response, content, deep) }) };
};

/**
 * The deepest input of a call. JSON and schema libraries recurse: V8's stack holds several thousand levels, and the
 * schemas of tools nest a few dozen.
 */
const maxInputDepth = 500;
const tooDeepReason = `The input is nested more than ${maxInputDepth} levels deep. Call the tool again with a flatter input.`;

/** Makes a call that no model driver has checked safe to store. With `invalid`, its input is removed. */
export const ingestCall = (given: ToolCall): { readonly call: ToolCall; readonly invalid?: string } =>
  isDeeperThan(given.input, maxInputDepth)
    ? { call: { ...given, input: {} }, invalid: tooDeepReason }
    : { call: wellFormed(given) };

/** Finds the calls whose input is nested too deeply to be checked and stored. */
const deepCalls = (content: readonly AssistantPart[]): readonly number[] =>
  content.flatMap((part, index) =>
    isObject(part) && part.type === 'tool-call' && isDeeperThan(part.input, maxInputDepth) ? [index] : [],
  );

const withoutInputs = (response: ModelResponse, places: readonly number[]): ModelResponse => ({
  ...response,
  content: response.content.map((part, index) => (places.includes(index) ? { ...part, input: {} } : part)),
});

/** Why calls are invalid, by the ids that they have received. */
const invalidCalls = (
  given: ModelResponse,
  content: readonly AssistantPart[],
  deep: readonly number[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    content.flatMap((part, place) => {
      if (part.type !== 'tool-call') return [];
      const { toolCallId } = given.content[place] as ToolCallPart;
      const reason = deep.includes(place) ? tooDeepReason : invalidReason(given, toolCallId);
      return reason === undefined ? [] : [[part.toolCallId, reason]];
    }),
  );

/** Why the input of a call cannot be used. The id comes from a model and may be the name of a member of all objects. */
export const invalidReason = ({ invalidCalls: reasons = {} }: ModelResponse, id: string): string | undefined =>
  Object.hasOwn(reasons, id) ? reasons[id] : undefined;

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
  wellFormed(checked(toolOutcome, given, `The tool ${JSON.stringify(name)}`, 'outcome'));

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
