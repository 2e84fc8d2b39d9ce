import { prefixParts, type PartPrint, type PrefixPart, type PrefixPrint } from './kept-prompt.js';

/** A difference between the cached prefix of two requests. */
export interface PrefixChange {
  readonly part: PrefixPart;
  /** The section or tool; absent if only the whole part could be compared. */
  readonly id?: string | undefined;
  readonly change: 'added' | 'removed' | 'changed' | 'moved';
  /** Hash before the change. */
  readonly from?: string | undefined;
  /** Hash after the change. */
  readonly to?: string | undefined;
}

declare module '@h/turn' {
  interface TurnEvents {
    /**
     * The stable prefix of a session's requests has changed, which invalidates the provider's cache from that point.
     */
    'cache.broken': {
      /** The first changed part, in the order in which a provider reads. Everything after it is processed again. */
      readonly from: PrefixPart;
      readonly changes: readonly PrefixChange[];
    };
    /** Reports the effect of the preceding `cache.broken`, by the provider's token counts. */
    'cache.checked': {
      /**
       * `lost`: fewer tokens were read than the cache held; `kept`: at least as many; `unknown`: the provider reports
       * none.
       */
      readonly outcome: 'lost' | 'kept' | 'unknown';
      /** Number of tokens read from the cache. */
      readonly cacheRead: number;
      /**
       * Number of tokens in the cache after the previous request. For the first request of a turn, this is the count
       * that the previous turn stored: after its first request with the last prefix.
       */
      readonly cachedBefore: number;
    };
  }
}

/** Lists the differences between two prefixes, in the order in which a provider reads. */
export const comparePrefixes = (before: PrefixPrint, after: PrefixPrint): readonly PrefixChange[] =>
  before === after ? [] : prefixParts.flatMap((part) => comparePart(part, before[part], after[part]));

const comparePart = (part: PrefixPart, before: PartPrint, after: PartPrint): readonly PrefixChange[] => {
  if (before === after || before.hash === after.hash) return [];
  if (!before.items || !after.items) return [{ part, change: 'changed', from: before.hash, to: after.hash }];
  const old = new Map(before.items.map(({ id, hash }) => [id, hash]));
  const changes: PrefixChange[] = [];
  for (const { id, hash } of after.items) {
    const from = old.get(id);
    old.delete(id);
    if (from === undefined) changes.push({ part, id, change: 'added', to: hash });
    else if (from !== hash) changes.push({ part, id, change: 'changed', from, to: hash });
  }
  for (const [id, from] of old) changes.push({ part, id, change: 'removed', from });
  return changes.length > 0 ? changes : moved(part, before.items, after.items);
};

/** Lists the items whose position has changed. */
const moved = (
  part: PrefixPart,
  before: NonNullable<PartPrint['items']>,
  after: NonNullable<PartPrint['items']>,
): readonly PrefixChange[] =>
  after.flatMap(({ id, hash }, index) =>
    before[index]?.id === id ? [] : [{ part, id, change: 'moved' as const, from: hash, to: hash }],
  );
