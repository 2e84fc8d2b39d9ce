import type { Message, UserMessage } from '@h/turn';

/** The key of the tag in a message's metadata, which models do not see. */
const tagKey = 'inbox';

/** Returns the message with a tag that identifies it in turns and histories. */
export const withTag = (message: UserMessage, tag: string): UserMessage => ({
  ...message,
  metadata: { ...message.metadata, [tagKey]: tag },
});

export const tagOf = ({ metadata }: Message): string | undefined => {
  const tag = metadata?.[tagKey];
  return typeof tag === 'string' ? tag : undefined;
};
