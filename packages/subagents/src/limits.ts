/** How many sub-agents there may be, and how long they may take. */
export interface SubagentLimits {
  /**
   * How deep sub-agents may spawn sub-agents; with `1` only the agent at the top spawns.
   *
   * @defaultValue `5`, what runs in the field as a guard against recursion without end
   */
  readonly depth?: number | undefined;
  /**
   * How many sub-agents an agent may have at a time. One counts until its result was delivered. No message brings more results.
   *
   * @defaultValue `20`, more than models ask for and few enough to be read
   */
  readonly children?: number | undefined;
  /**
   * How many may be under way in a whole tree, those that wait for their start included.
   *
   * @defaultValue `50`, because 20 for each of 5 levels would be three million
   */
  readonly tree?: number | undefined;
  /**
   * How many may work at the same time. Further ones wait in the order in which they came; one that waits for
   * sub-agents of its own does not count.
   *
   * @defaultValue `8`, a little under what providers allow a small account at once
   */
  readonly concurrency?: number | undefined;
  /**
   * How long a sub-agent may work, in milliseconds, from when it begins.
   *
   * @defaultValue `900_000`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How long one that was told to stop may take to end in order, in milliseconds. After that it is cut off.
   *
   * @defaultValue `10_000`, twice what a turn gives its operators
   */
  readonly graceMs?: number | undefined;
  /**
   * How long a call of the tool `wait` may take, in milliseconds.
   *
   * @defaultValue `300_000`
   */
  readonly waitMs?: number | undefined;
  /**
   * How much of a result the parent reads, in characters.
   *
   * @defaultValue `8000`, about 2,000 tokens: twenty of them fit into most windows
   */
  readonly resultChars?: number | undefined;
  /**
   * How many results may wait for a next turn of their parents, in all trees together. Beyond it the oldest one of a parent
   * without a turn is forgotten.
   *
   * @defaultValue `1000`, some 10 MB at most
   */
  readonly unread?: number | undefined;
  /**
   * How long the store may take for one record, in milliseconds. A spawn that it does not confirm by then is refused.
   *
   * @defaultValue `10_000`
   */
  readonly storeMs?: number | undefined;
}

/** All limits, with defaults filled in. */
export type Limits = { readonly [Name in keyof SubagentLimits]-?: number };

const defaultLimits: Limits = {
  depth: 5,
  children: 20,
  tree: 50,
  concurrency: 8,
  timeoutMs: 900_000,
  graceMs: 10_000,
  waitMs: 300_000,
  resultChars: 8000,
  unread: 1000,
  storeMs: 10_000,
};

/** The limits with their defaults, also where one is given as `undefined`. */
export const limitsOf = (given: SubagentLimits = {}): Limits => {
  const stated = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaultLimits, ...(Object.fromEntries(stated) as Partial<Limits>) };
};
