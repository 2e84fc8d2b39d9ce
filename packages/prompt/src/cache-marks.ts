import type { Message, MessageList, ProviderOptions, SystemBlock, ToolDefinition } from '@h/turn';

/** A place where the provider may be asked to cache everything before it. */
export interface WantedMark {
  readonly id: string;
  /** About how many tokens lie before it. */
  readonly tokens: number;
}

/** What {@link budgetMarks} has to go by. */
export interface MarkBudget {
  /** How many marks a request may have. */
  readonly limit: number;
  /** How many it has already. */
  readonly taken: number;
  /** Below so many tokens a provider caches nothing, whatever the mark. */
  readonly minTokens: number;
}

/**
 * The marks that are set, of those wanted.
 *
 * The wanted ones come in the order of their worth. Where there are too many, those go first before which there is too
 * little to be cached anyway, then the least worthy.
 *
 * @returns the ids of the marks to set
 */
export const budgetMarks = (
  wanted: readonly WantedMark[],
  { limit, taken, minTokens }: MarkBudget,
): ReadonlySet<string> => {
  const free = Math.max(0, limit - taken);
  const byWorth = [
    ...wanted.filter(({ tokens }) => tokens >= minTokens),
    ...wanted.filter(({ tokens }) => tokens < minTokens),
  ];
  return new Set(byWorth.slice(0, free).map(({ id }) => id));
};

const markNames: readonly string[] = ['cacheControl', 'cache_control', 'cachePoint'];

/** How many marks blocks and tools carry that somebody else has made. */
export const countMarks = (system: readonly SystemBlock[], tools: readonly ToolDefinition[]): number => {
  let count = 0;
  for (const { cache } of system) if (cache) count += 1;
  for (const { providerOptions } of tools) if (isMarked(providerOptions)) count += 1;
  return count;
};

/** Counts the marks in a history that grows, looking at each message once. */
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
