import type { Message, UserMessage } from '@h/turn';

/** Under what a message carries its tag, in its metadata, which no model sees. */
const tagKey = 'inbox';

/** The message, marked so that it is known again in a turn and in a history. */
export const withTag = (message: UserMessage, tag: string): UserMessage => ({
  ...message,
  metadata: { ...message.metadata, [tagKey]: tag },
});

export const tagOf = ({ metadata }: Message): string | undefined => {
  const tag = metadata?.[tagKey];
  return typeof tag === 'string' ? tag : undefined;
};
