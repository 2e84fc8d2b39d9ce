import type { Message } from '@h/turn';
import { groupMessages } from '../cutting/groups.js';
import type { CompactionStrategy } from '../strategy.js';
import { isUserRequest } from '../summary/user-requests.js';
import { openUserRequestsBefore, pinnedPlaces, protectedTraffic } from './kept.js';

/**
 * Keeps the newest messages that fit, earlier summaries, the open requests of the user, and results of protected tools.
 *
 * @param protectedTools - the names of tools whose results stay
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
    const requests = openUserRequestsBefore(messages, start, targetTokens / 2, count);
    const protectedMessages = protectedTraffic(messages, start, protectedTools, targetTokens / 4, count);
    const before = [...pinned].filter((place) => place < start).map((place) => messages[place] as Message);
    const pinnedAndOpen = [...before, ...requests.values()];
    const kept = [...pinnedAndOpen, ...openingRequest(messages, start, pinnedAndOpen), ...protectedMessages];
    return kept.length >= start ? undefined : [...kept, ...messages.slice(start)];
  };

/**
 * Providers require a conversation to begin with the user: the last user message before the window, if none is left.
 */
const openingRequest = (messages: readonly Message[], start: number, kept: readonly Message[]): readonly Message[] => {
  if (messages[start]?.role === 'user' || kept.some(({ role }) => role === 'user')) return [];
  const last = messages.slice(0, start).findLast(isUserRequest);
  return last ? [last] : [];
};
