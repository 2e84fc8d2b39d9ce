import { relative, resolve, sep } from 'node:path';
import { isInside, isWithin } from './paths.js';
import { checkPolicy, type AgentPolicy } from './policy.js';
import { canWrite, reachesAll } from './reach.js';

/** Path patterns of `@h/workspace`. */
interface PathPatterns {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Options of `createWorkspace()` and `workspaceTools()` of `@h/workspace`. */
export interface WorkspaceConfinement {
  readonly root: string;
  readonly readOnlyRoots: readonly string[];
  readonly externalDirectory: 'deny';
  readonly permissions: { readonly allowWrite: boolean; readonly read: PathPatterns; readonly write: PathPatterns };
}

/** Options for `createSandbox()` of `@h/sandbox`. */
export type SandboxConfinement =
  | { readonly mode: 'host'; readonly root: string }
  | {
      readonly mode: 'bubblewrap';
      readonly root: string;
      readonly network: boolean;
      readonly readOnly: boolean;
      readonly readOnlyPaths: readonly string[];
    };

/** Options for tools that keep to a policy on their own. */
export interface Confinement {
  readonly workspace: WorkspaceConfinement;
  /** `undefined` if no sandbox can enforce the policy; then give the agent no commands. */
  readonly sandbox: SandboxConfinement | undefined;
}

/**
 * Converts a policy to options of `@h/workspace` that enforce it: never more than the policy allows, sometimes less.
 *
 * Path patterns ignore case. Folders outside of `root` are readable only if all of `root` is, and never writable. A
 * sandbox includes all of `root`, and either all of the network or nothing of it. There is no sandbox if a path in
 * `root` is denied or only a part of it is readable, and commands can write only if all of `root` is writable. Commands
 * always see the programs of the system.
 *
 * @param root The folder to work in: `folder` of a sub-agent that works in a copy. Absolute, links resolved.
 *
 * @example
 * ```ts
 * const { workspace, sandbox } = confinement(context.policy, context.folder ?? '/repo');
 * const files = workspaceTools(workspace);
 * const bash = sandbox && bashTool(files.workspace, { sandbox: await createSandbox(sandbox) });
 * ```
 */
export const confinement = (policy: AgentPolicy, root: string): Confinement => {
  checkPolicy(policy);
  const folder = resolve(root);
  return { workspace: workspaceOf(policy, folder), sandbox: sandboxOf(policy, folder) };
};

const workspaceOf = (policy: AgentPolicy, root: string): WorkspaceConfinement => {
  const deny = policy.deniedPaths.flatMap((path) =>
    isInside(path, root) ? everything : isInside(root, path) ? patternOf(root, path, 'deny') : [],
  );
  const roots = outside(policy, root);
  const denyThere = roots.flatMap((each) =>
    policy.deniedPaths
      .filter((path) => isInside(each, path) && path !== each)
      .flatMap((path) => patternOf(each, path, 'deny')),
  );
  const denied = [...deny, ...denyThere];
  return {
    root,
    readOnlyRoots: roots,
    externalDirectory: 'deny',
    permissions: {
      allowWrite: canWrite(policy),
      read: { ...allowed(policy.read, root), ...(denied.length > 0 && { deny: denied }) },
      write: allowed(policy.write, root),
    },
  };
};

const sandboxOf = (policy: AgentPolicy, root: string): SandboxConfinement | undefined => {
  const { sandbox, read, write, deniedPaths } = policy;
  if (sandbox === 'none' && read === null && write === null && deniedPaths.length === 0 && reachesAll(policy)) {
    return { mode: 'host', root };
  }
  const readOnlyPaths = outside(policy, root);
  const isKept =
    isWithin(read, root) &&
    ![root, ...readOnlyPaths].some((shown) =>
      deniedPaths.some((path) => isInside(shown, path) || isInside(path, shown)),
    );
  if (!isKept) return undefined;
  return {
    mode: 'bubblewrap',
    root,
    network: reachesAll(policy),
    readOnly: !canWrite(policy) || !isWithin(write, root),
    readOnlyPaths,
  };
};

/**
 * Returns readable folders besides `root`. Patterns apply to each folder, so a part of `root` excludes other folders.
 */
const outside = ({ read, deniedPaths }: AgentPolicy, root: string): readonly string[] =>
  read !== null && isWithin(read, root)
    ? read.filter((path) => !isInside(path, root) && !isInside(root, path) && !isWithin(deniedPaths, path))
    : [];

const allowed = (roots: readonly string[] | null, root: string): PathPatterns => {
  if (isWithin(roots, root)) return {};
  return {
    allow: (roots ?? []).filter((path) => isInside(root, path)).flatMap((path) => patternOf(root, path, 'allow')),
  };
};

const everything = ['*'];

/**
 * Converts a path to a pattern relative to the root. A pattern cannot end with a blank: a denied path gets a wildcard
 * for it, and an allowed path is omitted.
 */
const patternOf = (root: string, path: string, use: 'allow' | 'deny'): readonly string[] => {
  const escaped = relative(root, path)
    .split(sep)
    .join('/')
    .replaceAll(/[\\*?[\]]/g, '\\$&');
  if (path === root) return everything;
  if (!/\s$/.test(escaped)) return [`/${escaped}`];
  return use === 'allow' ? [] : [`/${escaped.trimEnd()}${'?'.repeat(escaped.length - escaped.trimEnd().length)}`];
};
