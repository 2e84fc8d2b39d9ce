import type { MessageList } from '../contract/message-list.js';
import type { Message } from '../contract/messages.js';

/** Whether the conversation ends with tool calls that the client must answer: only their results may follow. */
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
 * Adds messages to a conversation. Providers reject messages between calls and their results, so such messages wait
 * until the results are added.
 *
 * @returns the conversation, and the messages that wait
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
