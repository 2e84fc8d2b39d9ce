import type { Message, MessageList, ProviderOptions, SystemBlock, ToolDefinition } from '@h/turn';

/** A position at which the provider can be asked to cache everything before it. */
export interface WantedMark {
  readonly id: string;
  /** Approximate number of tokens before it. */
  readonly tokens: number;
}

/** Limits for {@link budgetMarks}. */
export interface MarkBudget {
  /** Maximum number of marks per request. */
  readonly limit: number;
  /** Number of marks that the request already has. */
  readonly taken: number;
  /** Minimum number of tokens that the provider caches. */
  readonly minTokens: number;
}

/**
 * Selects the marks to set.
 *
 * `wanted` is sorted by priority. If the limit is exceeded, marks with fewer than `minTokens` before them are dropped
 * first, then those with the lowest priority.
 *
 * @returns the ids of the marks to set
 */
export const budgetMarks = (
  wanted: readonly WantedMark[],
  { limit, taken, minTokens }: MarkBudget,
): ReadonlySet<string> => {
  const free = Math.max(0, limit - taken);
  const byPriority = [
    ...wanted.filter(({ tokens }) => tokens >= minTokens),
    ...wanted.filter(({ tokens }) => tokens < minTokens),
  ];
  return new Set(byPriority.slice(0, free).map(({ id }) => id));
};

const markNames: readonly string[] = ['cacheControl', 'cache_control', 'cachePoint'];

/** Counts the marks that system blocks and tools already carry. */
export const countMarks = (system: readonly SystemBlock[], tools: readonly ToolDefinition[]): number => {
  let count = 0;
  for (const { cache } of system) if (cache) count += 1;
  for (const { providerOptions } of tools) if (isMarked(providerOptions)) count += 1;
  return count;
};

/** Creates a function that counts the marks in a growing history and visits each message once. */
export const messageMarkCounter = (): ((messages: MessageList) => number) => {
  let seen: MessageList | undefined;
  let count = 0;
  return (messages) => {
    if (seen === messages) return count;
    const isLonger = seen !== undefined && messages.startsWith(seen);
    if (!isLonger) count = 0;
    for (let index = isLonger && seen ? seen.length : 0; index < messages.length; index += 1) {
      count += marksOf(messages.at(index) as Message);
    }
    seen = messages;
    return count;
  };
};

const marksOf = ({ content, providerOptions }: Message): number => {
  let count = isMarked(providerOptions) ? 1 : 0;
  if (typeof content === 'string') return count;
  for (const part of content) if ('providerOptions' in part && isMarked(part.providerOptions)) count += 1;
  return count;
};

const isMarked = (options: ProviderOptions | undefined): boolean => {
  if (options === undefined) return false;
  return Object.values(options).some((own) => markNames.some((name) => own[name] !== undefined && own[name] !== null));
};
