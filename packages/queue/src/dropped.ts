import type { UserMessage } from '@h/turn';
import type { Dropped } from './contract.js';

const maxSummaries = 10;
const maxChars = 200;

/** Adds a dropped message. Only the latest summaries are kept, each truncated. */
export const withDropped = (before: Dropped | undefined, summary: string | undefined): Dropped => ({
  count: (before?.count ?? 0) + 1,
  summaries: [...(before?.summaries ?? []), ...(summary === undefined ? [] : [shortened(summary)])].slice(
    -maxSummaries,
  ),
});

/** Joins two summaries in this order. */
export const joinDropped = (first: Dropped | undefined, second: Dropped | undefined): Dropped | undefined =>
  first && second
    ? { count: first.count + second.count, summaries: [...first.summaries, ...second.summaries].slice(-maxSummaries) }
    : (first ?? second);

/** Returns the message that informs the model about dropped messages. */
export const droppedMessage = (dropped: Dropped): UserMessage => ({
  role: 'user',
  content: droppedText(dropped),
  metadata: { internal: true, kind: 'queue-dropped' },
});

/** Describes dropped messages to a model. */
const droppedText = ({ count, summaries }: Dropped): string => {
  const opening = `[${count} earlier ${count === 1 ? 'message was' : 'messages were'} dropped because too many were waiting.`;
  if (summaries.length === 0) return `${opening}]`;
  return `${opening} ${summaries.length < count ? 'The latest began' : 'They began'}:\n${summaries.map((text) => `- ${text}`).join('\n')}]`;
};

const shortened = (text: string): string => {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars).toWellFormed()}…`;
};
