import type { UserMessage } from '@h/turn';

/** The text parts of a message. */
export const textOf = ({ content }: UserMessage): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join(' ');
