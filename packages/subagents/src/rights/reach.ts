import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { ToolCall, ToolEffect, ToolPaths } from '@h/turn';
import { arrayOf, checkOptions, nonEmptyString } from '@h/options';
import { isInside } from './paths.js';
import { allowsHost, allowsPath, type AgentPolicy } from './policy.js';

/** The files and hosts that a tool call reaches, beyond those to which its tool is confined anyway. */
export interface CallReach {
  /** Absolute paths that the call reads, everything below them included. */
  readonly read?: readonly string[] | undefined;
  /** Absolute paths that the call writes, everything below them included. */
  readonly write?: readonly string[] | undefined;
  /** Hosts that the call connects to. */
  readonly hosts?: readonly string[] | undefined;
}

/** Judges a call by what it reaches. Returns the reason for a denial, or `undefined` if the policy allows the call. */
export interface ReachJudge {
  (call: ToolCall, reach: CallReach | undefined): string | undefined | Promise<string | undefined>;
}

/**
 * Creates a judge for a policy. A given reach decides alone. Without one, the effect that the tool declares decides
 * about writing and hosts, and the paths that it declares decide about files. A malformed reach, such as a promise,
 * throws.
 */
export const reachJudge = (policy: AgentPolicy): ReachJudge => {
  let real: Promise<AgentPolicy> | undefined;
  const judgePaths = (reach: CallReach): string | undefined | Promise<string | undefined> => {
    if (!limitsPaths(policy) || (reach.read?.length ?? 0) + (reach.write?.length ?? 0) === 0) return undefined;
    real ??= withRealPaths(policy);
    return real.then((followed) => refusedPath([policy, followed], reach));
  };
  return (call, given) => {
    if (given === undefined) {
      const declared = call.paths && declaredReach(call.paths, call.input);
      return (
        refusedEffect(policy, call) ?? (declared === undefined ? refusedUndeclared(policy, call) : judgePaths(declared))
      );
    }
    checkOptions<CallReach>('reachOf()', given, { read: strings, write: strings, hosts: strings });
    const host = given.hosts?.find((each) => !allowsHost(policy, each));
    if (host !== undefined) return `This agent may not reach ${JSON.stringify(host)}.`;
    if (!canWrite(policy) && (given.write?.length ?? 0) > 0) return readOnly;
    return judgePaths(given);
  };
};

const strings = arrayOf(nonEmptyString);

/** Returns whether the policy allows any write. */
export const canWrite = ({ sandbox, write }: AgentPolicy): boolean => sandbox !== 'read-only' && write?.length !== 0;

/** Returns whether the policy allows every host. */
export const reachesAll = ({ hosts, deniedHosts }: AgentPolicy): boolean => hosts === null && deniedHosts.length === 0;

const limitsReads = ({ read, deniedPaths }: AgentPolicy): boolean => read !== null || deniedPaths.length > 0;

const limitsPaths = (policy: AgentPolicy): boolean => limitsReads(policy) || policy.write !== null;

const readOnly = 'This agent may not write anything.';

/** A tool without a declared effect is judged as destructive. */
const refusedEffect = (policy: AgentPolicy, { name, effect }: ToolCall): string | undefined => {
  const worst: ToolEffect = effect ?? 'destructive';
  const declared = effect === undefined ? `${name} declares no effect` : `${name} declares the effect ${effect}`;
  if (!canWrite(policy) && writesFiles(worst)) return `${readOnly} ${declared}.`;
  if (!reachesAll(policy) && (worst === 'network' || worst === 'destructive')) {
    return `This agent may not reach every host. ${declared}, and not which hosts it reaches.`;
  }
  return undefined;
};

const writesFiles = (effect: ToolEffect): boolean => effect === 'local-write' || effect === 'destructive';

/** A tool that does not declare its paths may reach every file. */
const refusedUndeclared = (policy: AgentPolicy, { name, effect = 'destructive' }: ToolCall): string | undefined => {
  const isLimited = limitsReads(policy) || (policy.write !== null && writesFiles(effect));
  return isLimited
    ? `This agent may not reach every file, and ${name} does not declare which of its inputs are paths.`
    : undefined;
};

/** Home folders, URLs, and blanks or control characters at an end: a tool may resolve them to another path. */
// oxlint-disable-next-line eslint/no-control-regex -- control characters are what it looks for
const ambiguous = /^(?:~|[a-z][a-z\d+.-]+:|[\s\u0000-\u001f])|[\s\u0000-\u001f]$/i;

/** @throws TypeError if a declared input is not a path that can be judged */
const declaredReach = ({ root, read = [], write = [] }: ToolPaths, input: unknown): CallReach => {
  const pathsOf = (members: readonly string[]): readonly string[] =>
    members.flatMap((member) => {
      const values = valuesAt(input, member.split('.'));
      return (values.length === 0 ? ['.'] : values).map((value) => {
        if (typeof value !== 'string' || ambiguous.test(value)) throw new TypeError(`${member} is not a path.`);
        if (isAbsolute(value)) return value;
        if (root === undefined) throw new TypeError(`${member} is relative to an unknown folder.`);
        return resolve(root, value);
      });
    });
  return { read: pathsOf(read), write: pathsOf(write) };
};

/** Returns the values of a member; lists on the way and at its end count as their items. */
const valuesAt = (value: unknown, [name, ...rest]: readonly string[]): readonly unknown[] => {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return value === undefined ? [] : [value];
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return [];
  return valuesAt((value as Record<string, unknown>)[name], rest);
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
      const refusal = isAbsolute(path) ? await refusalOf(policies, path, access) : '';
      if (refusal !== undefined) return `This agent may not ${access} ${JSON.stringify(path)}${refusal}.`;
    }
  }
  return undefined;
};

/** Judges a path and its target: the target must be allowed, and neither may be, lie in or contain a denied path. */
const refusalOf = async (
  policies: readonly AgentPolicy[],
  path: string,
  access: 'read' | 'write',
): Promise<string | undefined> => {
  const target = await realPath(path);
  if (target === undefined) return '';
  const names = [resolve(path), target];
  const isDenied = policies.some((policy) =>
    names.some((each) => !allowsPath({ ...policy, read: null, write: null }, each, access)),
  );
  if (isDenied || !policies.some((policy) => allowsPath(policy, target, access))) return '';
  const below = policies
    .flatMap(({ deniedPaths }) => deniedPaths)
    .find((each) => names.some((name) => isInside(name, each)));
  return below === undefined ? undefined : `, which contains the denied path ${JSON.stringify(below)}`;
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

/** Resolves the links of a path as far as it exists; `undefined` if that fails. */
const realPath = async (path: string): Promise<string | undefined> => {
  const absolute = resolve(path);
  try {
    return await realpath(absolute);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT' && dirname(absolute) !== absolute;
    // A write to a dangling link creates its target, which cannot be resolved.
    if (!isMissing || (await lstat(absolute).catch(() => undefined))) return undefined;
    const folder = await realPath(dirname(absolute));
    return folder === undefined ? undefined : join(folder, basename(absolute));
  }
};
