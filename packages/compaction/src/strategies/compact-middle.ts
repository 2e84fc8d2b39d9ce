import type { Message } from '@h/turn';
import { groupMessages } from '../cutting/groups.js';
import type { CompactionStrategy } from '../strategy.js';
import { openUserRequestsBefore, pinnedPlaces, protectedTraffic } from './kept.js';

const kind = 'left-out';

/**
 * Keeps the first message and the last ones, with a marker between them that counts the removed messages. An earlier
 * marker is merged into the new one. Earlier summaries, open requests and results of protected tools stay.
 *
 * @param keepMessages - the number of messages to keep at the end, fewer if they do not fit
 * @param protectedTools - the names of tools whose results stay
 */
export const compactMiddle =
  (keepMessages: number, protectedTools: readonly string[]): CompactionStrategy =>
  async ({ messages, targetTokens, count, archive }) => {
    const head = headPlaces(messages);
    const left = targetTokens - head.reduce((tokens, place) => tokens + count(messages[place] as Message), 0);
    const start = startOfLast(messages, keepMessages, left, count);
    const first = head.filter((place) => place < start).map((place) => messages[place] as Message);
    const requests = [...openUserRequestsBefore(messages, start, targetTokens / 2, count)].filter(
      ([place]) => !head.includes(place),
    );
    const kept = [
      ...requests.map(([, message]) => message),
      ...protectedTraffic(messages, start, protectedTools, targetTokens / 4, count),
    ];
    const earlier = messages.slice(0, start).reduce((sum, message) => sum + markerCount(message), 0);
    const markers = messages.slice(0, start).filter((message) => markerCount(message) > 0).length;
    const dropped = start - first.length - kept.length - markers;
    if (dropped <= 0) return undefined;
    return [...first, markerMessage(earlier + dropped, await archive()), ...kept, ...messages.slice(start)];
  };

/** The beginning that always stays: system messages, summaries, and the first request. */
const headPlaces = (messages: readonly Message[]): readonly number[] => {
  const pinned = pinnedPlaces(messages);
  const first = messages.findIndex(({ role, metadata }) => role !== 'system' && metadata?.kind === undefined);
  const group = groupMessages(messages).find(({ start, end }) => start <= first && first < end);
  const places = group ? Array.from({ length: group.end - group.start }, (_, index) => group.start + index) : [];
  return [...new Set([...pinned, ...places])].toSorted((left, right) => left - right);
};

const startOfLast = (
  messages: readonly Message[],
  keepMessages: number,
  maxTokens: number,
  count: (message: Message) => number,
): number => {
  let left = maxTokens;
  let start = messages.length;
  for (const group of groupMessages(messages).toReversed()) {
    for (let place = group.start; place < group.end; place += 1) left -= count(messages[place] as Message);
    const isLast = group.end === messages.length;
    if (!isLast && (left < 0 || messages.length - group.start > keepMessages)) break;
    start = group.start;
  }
  return start;
};

const markerMessage = (count: number, archive: string | undefined): Message => ({
  role: 'user',
  content:
    `[Note from the harness, not from the user: ${count} messages of this conversation were left out here to save space.` +
    `${archive === undefined ? '' : ` They are kept; they can be found as ${archive}.`}]`,
  metadata: { internal: true, kind, leftOut: count },
});

const markerCount = ({ metadata }: Message): number =>
  metadata?.kind === kind && typeof metadata['leftOut'] === 'number' ? metadata['leftOut'] : 0;
