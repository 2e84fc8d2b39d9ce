import type { Message } from '@h/turn';
import { anyFunction, checkOptions, numberFrom } from '@h/options';
import { estimateTokens } from '@h/tokens';
import { createGauge } from '../counting/gauge.js';
import { defaultImageTokens } from '../counting/token-counter.js';
import { defaultWindow } from '../limits.js';
import { groupMessages, type MessageGroup } from './groups.js';

/** Options of {@link splitHistory}. */
export interface SplitHistoryOptions {
  /**
   * Tokens at the end that stay out of the chunks. At least the last group stays out, unless this is 0.
   *
   * @defaultValue `0`
   */
  readonly protectTokens?: number | undefined;
  /**
   * The context window of the model that reads the chunks, in tokens.
   *
   * @defaultValue `128_000`, like `window` of {@link compaction}
   */
  readonly summarizerWindow?: number | undefined;
  /**
   * The maximum size of a chunk, in tokens.
   *
   * @defaultValue two fifths of the summarizer's window with a margin of a fifth for miscounting, less at most 4,096
   * for instructions: the model must read the chunk and write about it
   */
  readonly chunkTokens?: number | undefined;
  /**
   * Counts the tokens of a message.
   *
   * @defaultValue an estimate on the high side
   */
  readonly count?: ((message: Message) => number) | undefined;
}

/** A part of a history that a summarizer can read at once. */
export interface HistoryChunk {
  readonly messages: readonly Message[];
  readonly tokens: number;
  /** Positions in the history of messages that fill more than half of a chunk and must be shortened. */
  readonly oversized: readonly number[];
}

/** A history in parts, which concatenate to the history. */
export interface SplitHistory {
  readonly chunks: readonly HistoryChunk[];
  /** The messages at the end that are protected. */
  readonly tail: readonly Message[];
}

/**
 * Cuts a history into chunks, never between a tool call and its result.
 *
 * A group that is larger than a chunk gets its own.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const { chunks, tail } = splitHistory(messages, { protectTokens: 40_000, summarizerWindow: 200_000 });
 * ```
 */
export const splitHistory = (messages: readonly Message[], options: SplitHistoryOptions = {}): SplitHistory => {
  checkOptions('splitHistory()', options, {
    protectTokens: numberFrom(0, Infinity),
    summarizerWindow: numberFrom(1, Infinity),
    chunkTokens: numberFrom(1, Infinity),
    count: anyFunction,
  });
  const {
    protectTokens = 0,
    summarizerWindow = defaultWindow,
    count = createGauge('estimate', estimateTokens, defaultImageTokens).message,
  } = options;
  const chunkTokens = options.chunkTokens ?? chunkTokensFor(summarizerWindow);
  const counts = messages.map(count);
  const groups = countedGroups(messages, counts);
  const tailStart = protectTokens === 0 ? groups.length : firstOfTail(groups, protectTokens);
  const chunks = chunked(groups.slice(0, tailStart), chunkTokens);
  return {
    chunks: chunks.map(({ start, end, tokens }) => ({
      messages: messages.slice(start, end),
      tokens,
      oversized: placesOver(counts, start, end, chunkTokens / 2),
    })),
    tail: messages.slice(groups[tailStart]?.start ?? messages.length),
  };
};

/** The size of a chunk for a model with this window. */
export const chunkTokensFor = (summarizerWindow: number): number =>
  Math.max(200, Math.floor((summarizerWindow * 0.4) / 1.2 - Math.min(4096, summarizerWindow * 0.05)));

interface CountedGroup extends MessageGroup {
  readonly tokens: number;
}

const countedGroups = (messages: readonly Message[], counts: readonly number[]): readonly CountedGroup[] =>
  groupMessages(messages).map(({ start, end }) => {
    let tokens = 0;
    for (let index = start; index < end; index += 1) tokens += counts[index] as number;
    return { start, end, tokens };
  });

/** The index of the first group of the tail: as many groups as fit, and at least one. */
const firstOfTail = (groups: readonly CountedGroup[], protectTokens: number): number => {
  let first = groups.length;
  let left = protectTokens;
  while (first > 0) {
    left -= (groups[first - 1] as CountedGroup).tokens;
    if (left < 0 && first < groups.length) break;
    first -= 1;
  }
  return first;
};

/** The beginning of the unchanged tail: as many whole groups as fit, and at least the last one. */
export const tailStartOf = (
  messages: readonly Message[],
  protectTokens: number,
  count: (message: Message) => number,
): number => {
  const groups = countedGroups(messages, messages.map(count));
  return groups[firstOfTail(groups, protectTokens)]?.start ?? messages.length;
};

const chunked = (groups: readonly CountedGroup[], chunkTokens: number): readonly CountedGroup[] => {
  const chunks: CountedGroup[] = [];
  for (const group of groups) {
    const last = chunks.at(-1);
    if (last && last.tokens + group.tokens <= chunkTokens) {
      chunks[chunks.length - 1] = { start: last.start, end: group.end, tokens: last.tokens + group.tokens };
    } else {
      chunks.push(group);
    }
  }
  return chunks;
};

const placesOver = (counts: readonly number[], start: number, end: number, most: number): readonly number[] => {
  const places: number[] = [];
  for (let index = start; index < end; index += 1) if ((counts[index] as number) > most) places.push(index);
  return places;
};
