import { resolve } from 'node:path';
import {
  anyOf,
  arrayOf,
  checkOptions,
  checkValue,
  nonEmptyString,
  numberFrom,
  oneOf,
  recordOf,
  type OptionChecks,
} from '@h/options';
import { allowing, canonical, forbidding, intersect, matchesAny, unite, type Aliases } from './patterns.js';
import { intersectRoots, isInside, isWithin, moveRoots, normalRoots, type Roots } from './paths.js';

/** How much a sandbox lets through, from most to least. */
export type SandboxLevel = 'none' | 'workspace-write' | 'read-only';

const sandboxLevels: readonly SandboxLevel[] = ['none', 'workspace-write', 'read-only'];

/** Amounts that may be used up, by the names that the budget knows (`maxTokens`, `maxCost` …). */
export type Allowances = Readonly<Record<string, number>>;

/**
 * What an agent may do. `null` is everything, `[]` nothing. In names `*` stands for any letters.
 *
 * A denial counts more than an allowance.
 */
export interface AgentPolicy {
  /** Tools that it may call. */
  readonly tools: readonly string[] | null;
  readonly deniedTools: readonly string[];
  /** Tools whose calls a person has to approve. */
  readonly approvals: readonly string[];
  /** Folders that it may read. Absolute, links resolved. */
  readonly read: Roots;
  /** Folders that it may write to. */
  readonly write: Roots;
  /** Folders that it may neither read nor write. */
  readonly deniedPaths: readonly string[];
  /** Hosts that it may reach. */
  readonly hosts: readonly string[] | null;
  readonly deniedHosts: readonly string[];
  readonly sandbox: SandboxLevel;
  /** What it may use up, besides what is left in the budget that it shares. */
  readonly budget: Allowances;
}

/** An agent that may do everything: what a parent is without a policy of its own. */
export const unrestricted: AgentPolicy = {
  tools: null,
  deniedTools: [],
  approvals: [],
  read: null,
  write: null,
  deniedPaths: [],
  hosts: null,
  deniedHosts: [],
  sandbox: 'none',
  budget: {},
};

/** Options of {@link inheritPolicy}. */
export interface InheritOptions {
  /**
   * Other names of tools, as other name → own name, so that a denial of `shell` is one of `bash`.
   *
   * @defaultValue `{}`
   */
  readonly aliases?: Aliases | undefined;
}

/**
 * What a child may do: what its parent may do and what is wanted for it, never more than either.
 *
 * Allowances are intersected, denials and approvals united, the stricter sandbox and the smaller amount hold; all after other
 * names were replaced. What `wanted` leaves out is as the parent has it.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const child = inheritPolicy({ ...unrestricted, tools: ['read', 'grep', 'bash'] }, { tools: ['read', 'write'] });
 * console.log(child.tools); // ['read']
 * ```
 */
export const inheritPolicy = (
  parent: AgentPolicy,
  wanted: Partial<AgentPolicy> = {},
  { aliases = {} }: InheritOptions = {},
): AgentPolicy => {
  checkPolicy(parent);
  checkPolicy(wanted);
  const own = normal(parent, aliases);
  const asked = normal({ ...unrestricted, ...wanted }, aliases);
  return {
    tools: intersect(own.tools, asked.tools),
    deniedTools: unite(own.deniedTools, asked.deniedTools),
    approvals: unite(own.approvals, asked.approvals),
    read: intersectRoots(own.read, asked.read),
    write: intersectRoots(own.write, asked.write),
    deniedPaths: unite(own.deniedPaths, asked.deniedPaths),
    hosts: intersect(own.hosts, asked.hosts),
    deniedHosts: unite(own.deniedHosts, asked.deniedHosts),
    sandbox:
      sandboxLevels[Math.max(sandboxLevels.indexOf(own.sandbox), sandboxLevels.indexOf(asked.sandbox))] ?? 'read-only',
    budget: smaller(own.budget, asked.budget),
  };
};

/** Whether the policy lets a tool be called. */
export const allowsTool = (policy: AgentPolicy, name: string, { aliases = {} }: InheritOptions = {}): boolean => {
  const own = canonical(name, aliases);
  if ([name, own].some((each) => matchesAny(forbidding(policy.deniedTools, aliases), each))) return false;
  return policy.tools === null || matchesAny(allowing(policy.tools, aliases), own);
};

/** Whether the policy wants a person asked before a tool is called. */
export const wantsApproval = (policy: AgentPolicy, name: string, { aliases = {} }: InheritOptions = {}): boolean =>
  [name, canonical(name, aliases)].some((each) => matchesAny(forbidding(policy.approvals, aliases), each));

/** Whether the policy lets a path, absolute and with its links resolved, be read or written. */
export const allowsPath = (policy: AgentPolicy, path: string, access: 'read' | 'write'): boolean =>
  isWithin(policy[access], path) && !policy.deniedPaths.some((root) => isInside(resolve(root), resolve(path)));

/** Whether the policy lets a host be reached. */
export const allowsHost = (policy: AgentPolicy, host: string): boolean => {
  const name = hostName(host);
  return (
    !matchesAny(policy.deniedHosts.map(hostName), name) &&
    (policy.hosts === null || matchesAny(policy.hosts.map(hostName), name))
  );
};

/**
 * The policy of somebody who works in a copy of a folder: rights in the folder become rights in the copy, and nothing outside
 * of the copy is written. Who may write nothing writes nothing there either.
 */
export const movePolicy = (policy: AgentPolicy, from: string, to: string): AgentPolicy => {
  const [origin = from, copy = to] = normalRoots([from, to]);
  const outside = (policy.read ?? []).filter((root) => !isInside(origin, root));
  const denied = moveRoots(policy.deniedPaths, origin, copy);
  return {
    ...policy,
    write: policy.write === null ? [copy] : moveRoots(policy.write, origin, copy),
    read: policy.read === null ? null : [...new Set([...outside, ...moveRoots(policy.read, origin, copy)])],
    deniedPaths: unite(policy.deniedPaths, denied),
  };
};

const normal = (policy: AgentPolicy, aliases: Aliases): AgentPolicy => ({
  ...policy,
  tools: policy.tools && allowing(policy.tools, aliases),
  deniedTools: forbidding(policy.deniedTools, aliases),
  approvals: forbidding(policy.approvals, aliases),
  read: policy.read && normalRoots(policy.read),
  write: policy.write && normalRoots(policy.write),
  deniedPaths: normalRoots(policy.deniedPaths),
  hosts: policy.hosts && policy.hosts.map(hostName),
  deniedHosts: policy.deniedHosts.map(hostName),
});

/** `Example.org.` is `example.org`. */
const hostName = (text: string): string => (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase();

const smaller = (one: Allowances, other: Allowances): Allowances =>
  Object.fromEntries(
    [...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => [
      name,
      Math.min(one[name] ?? Infinity, other[name] ?? Infinity),
    ]),
  );

const names = arrayOf(nonEmptyString);
const namesOrAll = anyOf(names, oneOf(null));

const policyChecks: OptionChecks<AgentPolicy> = {
  tools: namesOrAll,
  deniedTools: names,
  approvals: names,
  read: namesOrAll,
  write: namesOrAll,
  deniedPaths: names,
  hosts: namesOrAll,
  deniedHosts: names,
  sandbox: oneOf(...sandboxLevels),
  budget: recordOf(numberFrom(0, Infinity)),
};

/**
 * Checks a policy or a part of one. A member that is present and `undefined` is rejected, because it could mean everything.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const checkPolicy = (policy: Partial<AgentPolicy>): void => {
  checkOptions<Partial<AgentPolicy>>('policy', policy, policyChecks);
  for (const [name, value] of Object.entries(policy)) {
    checkValue('policy', name, value, policyChecks[name as keyof AgentPolicy]);
  }
};
