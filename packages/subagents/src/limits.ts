/** Limits on the number of sub-agents and on their time. */
export interface SubagentLimits {
  /**
   * Maximum depth of the tree; with `1`, only the agent at the top spawns.
   *
   * @defaultValue `5`, a common guard against unbounded recursion
   */
  readonly depth?: number | undefined;
  /**
   * Maximum number of sub-agents of one agent. A sub-agent counts until its result was delivered. One message delivers
   * at most that number of results.
   *
   * @defaultValue `20`, more than models request and few enough to read
   */
  readonly children?: number | undefined;
  /**
   * Maximum number of running and waiting sub-agents in a tree.
   *
   * @defaultValue `50`, because 20 on each of 5 levels would be three million
   */
  readonly tree?: number | undefined;
  /**
   * Maximum number of concurrent sub-agents. Further ones wait in order of arrival; one that waits for its own
   * sub-agents does not count.
   *
   * @defaultValue `8`, slightly below the concurrency that providers allow small accounts
   */
  readonly concurrency?: number | undefined;
  /**
   * Time limit of a sub-agent from its start, in milliseconds.
   *
   * @defaultValue `900_000`, enough for a task of about a hundred steps
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How long a cancelled sub-agent may take to end its turn, in milliseconds. Then the run is abandoned.
   *
   * @defaultValue `10_000`, twice the time that a turn gives its operators
   */
  readonly graceMs?: number | undefined;
  /**
   * Time limit of a call of the tool `wait`, in milliseconds.
   *
   * @defaultValue `300_000`, a third of `timeoutMs`: the parent can look at the others in between
   */
  readonly waitMs?: number | undefined;
  /**
   * Maximum length of a result for the parent, in characters.
   *
   * @defaultValue `8000`, about 2,000 tokens: twenty results fit into most context windows
   */
  readonly resultChars?: number | undefined;
  /**
   * Maximum number of unread results in all trees. Beyond it, the oldest result of a parent without a turn is dropped.
   *
   * @defaultValue `1000`, about 10 MB at most
   */
  readonly unread?: number | undefined;
  /**
   * Time limit of the store for one record, in milliseconds. A spawn that is not confirmed by then is refused.
   *
   * @defaultValue `10_000`, a write takes milliseconds
   */
  readonly storeMs?: number | undefined;
}

/** All limits with defaults filled in. */
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

/** Fills in defaults, also for limits that are `undefined`. */
export const limitsOf = (given: SubagentLimits = {}): Limits => {
  const stated = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaultLimits, ...(Object.fromEntries(stated) as Partial<Limits>) };
};
