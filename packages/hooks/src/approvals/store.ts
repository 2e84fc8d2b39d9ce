import type { ToolCall } from '@h/turn';
import { checkOptions, integerFrom } from '@h/options';
import { hashCall } from './subject.js';
import { coversCall } from './pattern.js';

/** A rule that the user has allowed for longer than once: a tool with a pattern, or exactly one call of it. */
export interface RememberedApproval {
  readonly tool: string;
  /** What it covers, as `coversCall` reads it; without it the rule covers exactly the call with this hash. */
  readonly pattern?: string | undefined;
  readonly hash?: string | undefined;
  /** When it was given, as milliseconds since 1970. */
  readonly at: number;
}

/** Stores rules that outlive the session. */
export interface ApprovalStore {
  list(): readonly RememberedApproval[] | PromiseLike<readonly RememberedApproval[]>;
  /** Adds a rule; one that is there already changes nothing. */
  add(rule: RememberedApproval): void | PromiseLike<void>;
}

/** What of a stored value is a list of rules; `undefined` if it is not. */
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

/** Whether a rule allows this call. */
export const isCovered = (
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

/** Whether two rules say the same. */
export const isSameRule = (left: RememberedApproval, right: RememberedApproval): boolean =>
  left.tool === right.tool && left.pattern === right.pattern && left.hash === right.hash;

/** The rules with one more, without the oldest ones beyond the limit. */
export const withRule = (
  rules: readonly RememberedApproval[],
  rule: RememberedApproval,
  max: number,
): readonly RememberedApproval[] =>
  rules.some((known) => isSameRule(known, rule)) ? rules : [...rules, rule].slice(-max);

/** The form of a rule in messages. */
export const ruleText = ({ tool, pattern }: RememberedApproval): string =>
  pattern === undefined ? `exactly this call of ${tool}` : `${tool}(${pattern})`;

/** Options of {@link memoryApprovalStore}. */
export interface MemoryApprovalStoreOptions {
  /**
   * How many rules are stored; the oldest are removed first.
   *
   * @defaultValue `1000`, more than a user allows in years
   */
  readonly maxRules?: number | undefined;
}

/** Keeps rules for as long as the process runs. */
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
