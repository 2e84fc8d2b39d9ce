import { textOf, toolCallsOf, type Message, type UserMessage } from '@h/turn';

/** Whether a person said it, and not the harness or one of its operators. */
export const isAsk = (message: Message): message is UserMessage =>
  message.role === 'user' && message.metadata?.internal !== true && message.metadata?.kind === undefined;

/**
 * Places of what the user has asked for and not been answered. Later requests may change or add to earlier ones, so all
 * since the last answer are open.
 *
 * An answer is a message of the model without tool calls after which nobody but the user goes on.
 */
export const openAsks = (messages: readonly Message[]): readonly number[] => {
  const answered = messages.findLastIndex((message, index) => isAnswer(message) && isEnd(messages[index + 1]));
  return messages.flatMap((message, index) => (index > answered && isAsk(message) ? [index] : []));
};

const isAnswer = (message: Message): boolean =>
  message.role === 'assistant' && toolCallsOf(message).length === 0 && textOf(message) !== '';

const isEnd = (next: Message | undefined): boolean => next === undefined || isAsk(next);

/** What the conversation began with. */
export const originalAsk = (messages: readonly Message[]): string | undefined => {
  const first = messages.find((message) => isAsk(message) && textOf(message) !== '');
  return first && textOf(first);
};
