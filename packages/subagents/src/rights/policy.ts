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
  type OptionCheck,
} from '@h/options';
import { matchesAny } from '@h/wildcard';
import { allowing, canonical, forbidding, intersect, unite, type Aliases } from './patterns.js';
import { absoluteRoot, intersectRoots, isInside, isWithin, moveRoots, normalRoots, type Roots } from './paths.js';

/** Sandbox levels, from the most to the least permissive. */
export type SandboxLevel = 'none' | 'workspace-write' | 'read-only';

const sandboxLevels: readonly SandboxLevel[] = ['none', 'workspace-write', 'read-only'];

/** Amounts by the names of the budget (`maxTokens`, `maxCost` …). */
export type Allowances = Readonly<Record<string, number>>;

/**
 * Rights of an agent. `null` is everything, `[]` nothing; `*` in names matches any characters.
 *
 * A denial takes precedence over an allowance.
 */
export interface AgentPolicy {
  /** Tools that the agent may call. */
  readonly tools: readonly string[] | null;
  readonly deniedTools: readonly string[];
  /** Tools whose calls need approval. */
  readonly approvals: readonly string[];
  /** Folders that the agent may read. Absolute, with resolved links. */
  readonly read: Roots;
  /** Folders that the agent may write. */
  readonly write: Roots;
  /** Paths that the agent may neither read nor write, with everything below them. */
  readonly deniedPaths: readonly string[];
  /** Hosts that the agent may reach. */
  readonly hosts: readonly string[] | null;
  readonly deniedHosts: readonly string[];
  readonly sandbox: SandboxLevel;
  /** Amounts that the agent may use, in addition to the limits of the shared budget. */
  readonly budget: Allowances;
}

/** The policy that allows everything, and the default of agents at the top. */
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
   * Aliases of tools, from alias to name, so that a denial of `shell` also denies `bash`.
   *
   * @defaultValue `{}`
   */
  readonly aliases?: Aliases | undefined;
}

/**
 * Returns the policy of a child: the rights of its parent restricted to the requested ones.
 *
 * Allowances are intersected, denials and approvals are united, and the stricter sandbox and the smaller amounts apply,
 * all after aliases were resolved. Members that `wanted` omits are inherited.
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
  checkPolicyPart(wanted);
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

/** Returns whether the policy allows calls of a tool. */
export const allowsTool = (policy: AgentPolicy, name: string, { aliases = {} }: InheritOptions = {}): boolean => {
  const own = canonical(name, aliases);
  if ([name, own].some((each) => matchesAny(forbidding(policy.deniedTools, aliases), each))) return false;
  return policy.tools === null || matchesAny(allowing(policy.tools, aliases), own);
};

/** Returns whether calls of a tool need approval. */
export const wantsApproval = (policy: AgentPolicy, name: string, { aliases = {} }: InheritOptions = {}): boolean =>
  [name, canonical(name, aliases)].some((each) => matchesAny(forbidding(policy.approvals, aliases), each));

/** Returns whether the policy allows access to an absolute path with resolved links. */
export const allowsPath = (policy: AgentPolicy, path: string, access: 'read' | 'write'): boolean =>
  isWithin(policy[access], path) && !policy.deniedPaths.some((root) => isInside(resolve(root), resolve(path)));

/** Returns whether the policy allows a host. */
export const allowsHost = (policy: AgentPolicy, host: string): boolean => {
  const name = hostName(host);
  return (
    !matchesAny(policy.deniedHosts.map(hostName), name) &&
    (policy.hosts === null || matchesAny(policy.hosts.map(hostName), name))
  );
};

/**
 * Returns the policy of an agent that works in a copy of a folder: rights in the folder become rights in the copy, and
 * nothing outside of the copy is writable. An agent without write access has none in the copy either.
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

/** Normalizes a host: `Example.org.` equals `example.org`. */
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
const paths = arrayOf(absoluteRoot);
const pathsOrAll = anyOf(paths, oneOf(null));

const policyChecks: Readonly<Record<keyof AgentPolicy, OptionCheck>> = {
  tools: namesOrAll,
  deniedTools: names,
  approvals: names,
  read: pathsOrAll,
  write: pathsOrAll,
  deniedPaths: paths,
  hosts: namesOrAll,
  deniedHosts: names,
  sandbox: oneOf(...sandboxLevels),
  budget: recordOf(numberFrom(0, Infinity)),
};

/**
 * Checks a part of a policy. A member that is present and `undefined` is rejected, because it could mean everything.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const checkPolicyPart = (policy: Partial<AgentPolicy>): void => {
  checkOptions<Partial<AgentPolicy>>('policy', policy, policyChecks);
  for (const [name, value] of Object.entries(policy)) {
    checkValue('policy', name, value, policyChecks[name as keyof AgentPolicy]);
  }
};

/**
 * Checks a policy, which needs all members: `{ ...unrestricted, deniedPaths }`.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const checkPolicy = (policy: AgentPolicy): void => {
  checkPolicyPart(policy);
  for (const name of Object.keys(policyChecks) as (keyof AgentPolicy)[]) {
    checkValue('policy', name, policy[name], policyChecks[name]);
  }
};
