import { relative, resolve, sep } from 'node:path';
import { isInside, isWithin } from './paths.js';
import { checkPolicy, type AgentPolicy } from './policy.js';
import { canWrite, reachesAll } from './reach.js';

/** Patterns of paths, in the form of `@h/paths`. */
interface PathPatterns {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

/** Options for `createWorkspace()` and `workspaceTools()` of `@h/workspace`. */
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

/** What tools are made with so that they keep to a policy by themselves. */
export interface Confinement {
  readonly workspace: WorkspaceConfinement;
  /** Nothing where no sandbox can keep to the policy: then the agent gets no commands. */
  readonly sandbox: SandboxConfinement | undefined;
}

/**
 * Makes of a policy what `@h/workspace` and `@h/sandbox` need to hold an agent to it: never more than the policy allows, sometimes less.
 *
 * Patterns of paths do not tell upper case from lower case. Folders outside of `root` may be read where the whole of `root` may,
 * and are never written. A sandbox has the whole of `root`, and the network or none: where paths in `root` are denied or only a
 * part of it may be read there is none, and commands write only where the whole of `root` may be written. Commands see the
 * programs of the system whatever the policy says.
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

/** More folders that may be read. Patterns count from each folder, so that a part of `root` and the whole of others cannot both be named. */
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
 * A path as a pattern from the root. Space at its end has no place in a pattern: any letter may stand for it in what is denied,
 * and what is allowed is left out.
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
