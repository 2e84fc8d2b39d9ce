import { prefixParts, type PartPrint, type PrefixPart, type PrefixPrint } from './kept-prompt.js';

/** Something in the cached prefix that is no longer what it was. */
export interface PrefixChange {
  readonly part: PrefixPart;
  /** The section or tool; absent where only the whole part could be compared. */
  readonly id?: string | undefined;
  readonly change: 'added' | 'removed' | 'changed' | 'moved';
  /** Hash of what it was. */
  readonly from?: string | undefined;
  /** Hash of what it is. */
  readonly to?: string | undefined;
}

declare module '@h/turn' {
  interface TurnEvents {
    /** The stable beginning of a session's requests has changed: from there on the provider's cache is of no use. */
    'cache.broken': {
      /** Where the change begins, in the order in which a provider reads: all that follows is processed anew. */
      readonly from: PrefixPart;
      readonly changes: readonly PrefixChange[];
    };
    /** What the provider's count says about a `cache.broken` before it. */
    'cache.checked': {
      /** `lost`: less was read from the cache than it held; `kept`: as much as before; `unknown`: the provider gives no numbers. */
      readonly outcome: 'lost' | 'kept' | 'unknown';
      /** Tokens that were read from the cache. */
      readonly cacheRead: number;
      /** Tokens that the cache held after the request before. */
      readonly cachedBefore: number;
    };
  }
}

/** What has changed between two prefixes, in the order in which a provider reads; empty when nothing has. */
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

/** The same items in another order: all from the first to the last that left its place. */
const moved = (
  part: PrefixPart,
  before: NonNullable<PartPrint['items']>,
  after: NonNullable<PartPrint['items']>,
): readonly PrefixChange[] =>
  after.flatMap(({ id, hash }, index) =>
    before[index]?.id === id ? [] : [{ part, id, change: 'moved' as const, from: hash, to: hash }],
  );
