import { textOf, toolCallsOf, type Message, type UserMessage } from '@h/turn';

/** Whether the user wrote the message, and not the harness or an operator. */
export const isUserRequest = (message: Message): message is UserMessage =>
  message.role === 'user' && message.metadata?.internal !== true && message.metadata?.kind === undefined;

/**
 * Positions of the user's unanswered requests. Later requests may change earlier ones, so all since the last answer are
 * open.
 *
 * An answer is a message of the model without tool calls that is followed by a message of the user or by nothing.
 */
export const openUserRequests = (messages: readonly Message[]): readonly number[] => {
  const answered = messages.findLastIndex((message, index) => isAnswer(message) && isEnd(messages[index + 1]));
  return messages.flatMap((message, index) => (index > answered && isUserRequest(message) ? [index] : []));
};

const isAnswer = (message: Message): boolean =>
  message.role === 'assistant' && toolCallsOf(message).length === 0 && textOf(message) !== '';

const isEnd = (next: Message | undefined): boolean => next === undefined || isUserRequest(next);

/** The first request of the conversation. */
export const firstUserRequest = (messages: readonly Message[]): string | undefined => {
  const first = messages.find((message) => isUserRequest(message) && textOf(message) !== '');
  return first && textOf(first);
};
