import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { ToolCall, ToolEffect } from '@h/turn';
import { allowsHost, allowsPath, type AgentPolicy } from './policy.js';

/** What a tool call reaches for, besides what the tool is confined to anyhow. */
export interface CallReach {
  /** Absolute paths that it reads. */
  readonly read?: readonly string[] | undefined;
  /** Absolute paths that it writes. */
  readonly write?: readonly string[] | undefined;
  /** Hosts that it talks to. */
  readonly hosts?: readonly string[] | undefined;
}

/** Judges calls by what they reach for. */
export interface ReachJudge {
  /** Why the policy refuses a call; nothing when it does not. */
  (call: ToolCall, reach: CallReach | undefined): string | undefined | Promise<string | undefined>;
}

/**
 * A call whose reach is known is judged by its paths, links followed, and its hosts; any other one by what its tool declares
 * that it does.
 */
export const reachJudge = (policy: AgentPolicy): ReachJudge => {
  let real: Promise<AgentPolicy> | undefined;
  return (call, reach) => {
    if (reach === undefined) return refusedEffect(policy, call);
    const host = reach.hosts?.find((each) => !allowsHost(policy, each));
    if (host !== undefined) return `This agent may not reach ${JSON.stringify(host)}.`;
    if (!canWrite(policy) && (reach.write?.length ?? 0) > 0) return readOnly;
    if (!limitsPaths(policy) || (reach.read?.length ?? 0) + (reach.write?.length ?? 0) === 0) return undefined;
    real ??= withRealPaths(policy);
    return real.then((followed) => refusedPath([policy, followed], reach));
  };
};

/** Whether the policy lets anything be written at all. */
export const canWrite = ({ sandbox, write }: AgentPolicy): boolean => sandbox !== 'read-only' && write?.length !== 0;

/** Whether the policy lets every host be reached. */
export const reachesAll = ({ hosts, deniedHosts }: AgentPolicy): boolean => hosts === null && deniedHosts.length === 0;

const limitsPaths = ({ read, write, deniedPaths }: AgentPolicy): boolean =>
  read !== null || write !== null || deniedPaths.length > 0;

const readOnly = 'This agent may not write anything.';

/** What nobody has described is taken for the worst that a tool can do. */
const refusedEffect = (policy: AgentPolicy, { name, effect }: ToolCall): string | undefined => {
  const worst: ToolEffect = effect ?? 'destructive';
  const declared =
    effect === undefined ? `${name} does not declare what it does` : `${name} declares that it is ${effect}`;
  if (!canWrite(policy) && (worst === 'local-write' || worst === 'destructive')) return `${readOnly} ${declared}.`;
  if (!reachesAll(policy) && (worst === 'network' || worst === 'destructive')) {
    return `This agent may not reach every host. ${declared}, and not which hosts it reaches.`;
  }
  return undefined;
};

const refusedPath = async (
  policies: readonly AgentPolicy[],
  { read = [], write = [] }: CallReach,
): Promise<string | undefined> => {
  for (const [access, paths] of [
    ['read', read],
    ['write', write],
  ] as const) {
    for (const path of paths) {
      const isAllowed = isAbsolute(path) && (await isAllowedBy(policies, path, access));
      if (!isAllowed) return `This agent may not ${access} ${JSON.stringify(path)}.`;
    }
  }
  return undefined;
};

/** The path has to be right where links lead, and may be denied by either name. */
const isAllowedBy = async (
  policies: readonly AgentPolicy[],
  path: string,
  access: 'read' | 'write',
): Promise<boolean> => {
  const followed = await realPath(path);
  if (followed === undefined) return false;
  const isDenied = policies.some((policy) =>
    [path, followed].some((each) => !allowsPath({ ...policy, read: null, write: null }, each, access)),
  );
  return !isDenied && policies.some((policy) => allowsPath(policy, followed, access));
};

const withRealPaths = async (policy: AgentPolicy): Promise<AgentPolicy> => {
  const follow = async (paths: readonly string[]): Promise<readonly string[]> =>
    Promise.all(paths.map(async (path) => (await realPath(path)) ?? path));
  return {
    ...policy,
    read: policy.read && (await follow(policy.read)),
    write: policy.write && (await follow(policy.write)),
    deniedPaths: await follow(policy.deniedPaths),
  };
};

/** Where a path leads, links followed as far as it is there; nothing where that cannot be told. */
const realPath = async (path: string): Promise<string | undefined> => {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(absolute) !== absolute;
    // A link that leads to nothing is there: what is written to it is made where it leads.
    if (!isMissing || (await lstat(absolute).catch(() => undefined))) return undefined;
    const folder = await realPath(dirname(absolute));
    return folder === undefined ? undefined : join(folder, basename(absolute));
  }
};
