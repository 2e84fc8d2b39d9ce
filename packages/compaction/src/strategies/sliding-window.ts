import type { Message } from '@h/turn';
import { groupMessages } from '../cutting/groups.js';
import type { CompactionStrategy } from '../strategy.js';
import { openAsksBefore, pinnedPlaces, protectedTraffic } from './kept.js';

/**
 * Keeps the newest messages that fit, earlier summaries, the open requests of the user, and results of protected tools.
 *
 * @param protectedTools names of tools whose results are kept
 */
export const slidingWindow =
  (protectedTools: readonly string[]): CompactionStrategy =>
  ({ messages, targetTokens, count }) => {
    const pinned = new Set(pinnedPlaces(messages));
    const tokensAt = (place: number): number => count(messages[place] as Message);
    let left = targetTokens;
    for (const place of pinned) left -= tokensAt(place);
    let start = messages.length;
    for (const group of groupMessages(messages).toReversed()) {
      for (let place = group.start; place < group.end; place += 1) if (!pinned.has(place)) left -= tokensAt(place);
      if (left < 0 && start < messages.length) break;
      start = group.start;
    }
    const asks = openAsksBefore(messages, start, targetTokens / 2, count);
    const protectedMessages = protectedTraffic(messages, start, protectedTools, targetTokens / 4, count);
    const before = [...pinned].filter((place) => place < start).map((place) => messages[place] as Message);
    const kept = [...before, ...protectedMessages, ...asks.values()];
    return kept.length >= start ? undefined : [...kept, ...messages.slice(start)];
  };
