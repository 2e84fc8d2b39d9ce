import type { MessageList } from './message-list.js';
import type { Message } from './messages.js';

/** Whether the conversation ends with calls that this side has yet to answer: nothing but their results may follow. */
export const awaitsResults = (history: MessageList): boolean => {
  const last = history.at(-1);
  if (last?.role !== 'assistant' || typeof last.content === 'string') return false;
  const { content } = last;
  return content.some(
    (part) =>
      part.type === 'tool-call' &&
      part.providerExecuted !== true &&
      !content.some((other) => other.type === 'tool-result' && other.toolCallId === part.toolCallId),
  );
};

/**
 * Adds messages to a conversation. What would come between calls and their results, which no provider accepts, waits
 * until the results are there.
 *
 * @returns the conversation, and what waits
 */
export const extend = (
  history: MessageList,
  waiting: readonly Message[],
  messages: readonly Message[],
): readonly [history: MessageList, waiting: readonly Message[]] => {
  if (messages[0]?.role !== 'tool' && awaitsResults(history)) return [history, [...waiting, ...messages]];
  const extended = history.concat(messages);
  return waiting.length > 0 && !awaitsResults(extended) ? [extended.concat(waiting), []] : [extended, waiting];
};
