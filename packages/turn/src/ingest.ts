import type { AssistantPart, Message } from './messages.js';
import { modelResponseSchema, type ModelResponse } from './model.js';
import { unusedId } from './repair.js';
import { toolOutcomeSchema, type ToolOutcome } from './tool.js';
import { checked } from './validation.js';
import { wellFormed } from './well-formed.js';

/**
 * A driver's answer, checked, and safe to store: no lone surrogates, and every call has an id of its own.
 *
 * Ids that were used before in the session are renamed and the new ones added to `used`.
 */
export const ingestResponse = (given: ModelResponse, used: Set<string>): ModelResponse => {
  const response = wellFormed(checked(modelResponseSchema, given, 'The answer of the model driver'));
  let changed = false;
  const content = response.content.map((part): AssistantPart => {
    if (part.type !== 'tool-call' || part.providerExecuted === true) return part;
    const id = unusedId(part.toolCallId, used);
    used.add(id);
    changed ||= id !== part.toolCallId;
    return id === part.toolCallId ? part : { ...part, toolCallId: id };
  });
  return changed ? { ...response, content } : response;
};

/** A tool driver's outcome, checked and without lone surrogates. */
export const ingestOutcome = (given: ToolOutcome, name: string): ToolOutcome =>
  wellFormed(checked(toolOutcomeSchema, given, `The outcome of the tool ${JSON.stringify(name)}`));

/** The ids of all tool calls of a history. */
export const callIdsOf = (messages: Iterable<Message>): Set<string> => {
  const ids = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    for (const part of message.content) if (part.type === 'tool-call') ids.add(part.toolCallId);
  }
  return ids;
};
