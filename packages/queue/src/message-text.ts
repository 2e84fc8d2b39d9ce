import type { UserMessage } from '@h/turn';

/** What a message says, without what is no text. */
export const textOf = ({ content }: UserMessage): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join(' ');
