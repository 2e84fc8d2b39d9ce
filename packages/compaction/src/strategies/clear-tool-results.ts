import type { Message, ToolMessage, ToolResultPart } from '@h/turn';
import { tailStartOf } from '../cutting/split-history.js';
import type { CompactionStrategy } from '../strategy.js';

const cleared = '[Cleared to save space:';

/**
 * Replaces tool results with a note, the oldest first, until the history fits. Calls, texts, recent results and those
 * of protected tools stay, and so do results that are not longer than the note.
 *
 * @param protectedTools names of tools whose results are never cleared
 */
export const clearToolResults =
  (protectedTools: readonly string[]): CompactionStrategy =>
  ({ messages, targetTokens, protectTokens, count }) => {
    const end = tailStartOf(messages, protectTokens, count);
    let excess = messages.reduce((tokens, message) => tokens + count(message), 0) - targetTokens;
    let changed = false;
    const result = messages.map((message, place) => {
      if (message.role !== 'tool' || place >= end || excess <= 0) return message;
      const shorter = clearMessage(message, protectedTools, count);
      if (shorter === message) return message;
      excess -= count(message) - count(shorter);
      changed = true;
      return shorter;
    });
    return changed ? result : undefined;
  };

const clearMessage = (
  message: ToolMessage,
  protectedTools: readonly string[],
  count: (message: Message) => number,
): ToolMessage => {
  let changed = false;
  const content = message.content.map((part) => {
    if (part.type !== 'tool-result' || protectedTools.includes(part.toolName) || isCleared(part)) return part;
    const tokens = count({ role: 'tool', content: [part] });
    const note = noteFor(part, tokens);
    if (count({ role: 'tool', content: [note] }) >= tokens) return part;
    changed = true;
    return note;
  });
  return changed ? { ...message, content } : message;
};

const isCleared = ({ output }: ToolResultPart): boolean => output.type === 'text' && output.value.startsWith(cleared);

const noteFor = (part: ToolResultPart, tokens: number): ToolResultPart => {
  const what = part.output.type.startsWith('error-') ? 'the error' : 'the result';
  const { type, toolCallId, toolName } = part;
  return {
    type,
    toolCallId,
    toolName,
    output: {
      type: 'text',
      value: `${cleared} ${what} of this call, about ${Math.round(tokens)} tokens. The call was made.]`,
    },
  };
};
