import { cutMiddle } from '@h/bounded';
import type { Message, ToolMessage, ToolResultPart } from '@h/turn';
import { textOfOutput } from '../summary/transcript.js';

const caps = [32_000, 16_000, 8_000, 4_000, 2_000, 1_000] as const;

/**
 * Truncates tool results in the middle, all to the same length, until the messages fit: the last resort if messages
 * that must not be dropped are too long. Returns the shortest result even if that does not fit.
 */
export const shortenResults = (
  messages: readonly Message[],
  maxTokens: number,
  count: (message: Message) => number,
): readonly Message[] => {
  const fits = (candidate: readonly Message[]): boolean =>
    candidate.reduce((tokens, message) => tokens + count(message), 0) <= maxTokens;
  if (fits(messages)) return messages;
  let shortest = messages;
  for (const cap of caps) {
    shortest = messages.map((message) => (message.role === 'tool' ? capped(message, cap) : message));
    if (fits(shortest)) return shortest;
  }
  return shortest;
};

const capped = (message: ToolMessage, maxChars: number): ToolMessage => {
  let changed = false;
  const content = message.content.map((part) => {
    const shorter = part.type === 'tool-result' ? cappedResult(part, maxChars) : part;
    changed ||= shorter !== part;
    return shorter;
  });
  return changed ? { ...message, content } : message;
};

const cappedResult = (part: ToolResultPart, maxChars: number): ToolResultPart => {
  const { output } = part;
  const text = output.type === 'error-text' ? output.value : textOfOutput(output);
  if (text.length <= maxChars) return part;
  return {
    ...part,
    output: { type: output.type === 'error-text' ? 'error-text' : 'text', value: cutMiddle(text, maxChars) },
  };
};
