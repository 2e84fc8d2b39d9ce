import type { ToolCall } from '@h/turn';
import { checkOptions, integerFrom } from '@h/options';
import { hashCall } from './subject.js';
import { coversCall } from './pattern.js';

/** A lasting approval of the user: for calls of a tool that a pattern covers, or for exactly one call. */
export interface RememberedApproval {
  readonly tool: string;
  /** The pattern for `coversCall`. Without a pattern, the rule covers exactly the call with this hash. */
  readonly pattern?: string | undefined;
  readonly hash?: string | undefined;
  /** The time of the approval in milliseconds since 1970. */
  readonly at: number;
}

/**
 * Stores rules that outlive the session.
 *
 * Both methods receive the session of the turn: a store for several users must not apply the rules of one to another.
 */
export interface ApprovalStore {
  list(session?: string): readonly RememberedApproval[] | PromiseLike<readonly RememberedApproval[]>;
  /** Adds a rule. An existing rule is not added again. */
  add(rule: RememberedApproval, session?: string): void | PromiseLike<void>;
}

/** Returns the rules in a stored value; `undefined` if the value is invalid. */
export const rulesIn = (value: unknown): readonly RememberedApproval[] | undefined => {
  const rules: unknown = typeof value === 'object' && value !== null && 'rules' in value ? value.rules : undefined;
  return Array.isArray(rules) && rules.every(isRule) ? rules : undefined;
};

const isRule = (value: unknown): value is RememberedApproval => {
  if (typeof value !== 'object' || value === null) return false;
  const { tool, pattern, hash, at } = value as Readonly<Record<string, unknown>>;
  const isText = (member: unknown): boolean => member === undefined || typeof member === 'string';
  return typeof tool === 'string' && typeof at === 'number' && isText(pattern) && isText(hash);
};

/** Returns the first rule that covers this call. */
export const coveringRule = (
  rules: readonly RememberedApproval[],
  call: Pick<ToolCall, 'name' | 'input'>,
): RememberedApproval | undefined => {
  const candidates = rules.filter(({ tool }) => tool === call.name);
  if (candidates.length === 0) return undefined;
  const hash = hashCall(call);
  return candidates.find((rule) =>
    rule.pattern === undefined ? rule.hash !== undefined && rule.hash === hash : coversCall(rule.pattern, call.input),
  );
};

/** Returns whether two rules are equal, apart from their time. */
const isSameRule = (left: RememberedApproval, right: RememberedApproval): boolean =>
  left.tool === right.tool && left.pattern === right.pattern && left.hash === right.hash;

/** Adds a rule unless it exists, and removes the oldest rules beyond the limit. */
export const withRule = (
  rules: readonly RememberedApproval[],
  rule: RememberedApproval,
  max: number,
): readonly RememberedApproval[] =>
  rules.some((known) => isSameRule(known, rule)) ? rules : [...rules, rule].slice(-max);

/** Formats a rule for messages. */
export const ruleText = ({ tool, pattern }: RememberedApproval): string =>
  pattern === undefined ? `exactly this call of ${tool}` : `${tool}(${pattern})`;

/** Options of {@link memoryApprovalStore}. */
export interface MemoryApprovalStoreOptions {
  /**
   * The maximum number of rules. Beyond it, the store removes the oldest rules.
   *
   * @defaultValue `1000`, more than a user creates in years
   */
  readonly maxRules?: number | undefined;
}

/**
 * Stores rules in memory, until the process ends. Its rules apply to all sessions.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * hooks([approvals()], { approvalStore: memoryApprovalStore() });
 * ```
 */
export const memoryApprovalStore = (options: MemoryApprovalStoreOptions = {}): ApprovalStore => {
  checkOptions('memoryApprovalStore()', options, { maxRules: integerFrom(1, Infinity) });
  let rules: readonly RememberedApproval[] = [];
  return {
    list: () => rules,
    add: (rule) => {
      rules = withRule(rules, rule, options.maxRules ?? 1000);
    },
  };
};
