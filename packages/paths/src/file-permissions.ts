import { relative, sep } from 'node:path';
import { anyBoolean, arrayOf, objectOf, type OptionCheck } from '@h/options';
import ignore from 'ignore';

/**
 * Two lists of path patterns for one kind of access, in the syntax of `.gitignore`: `*.pem` matches at any depth,
 * `/dist` and `docs/private` are relative to the root, a folder includes everything below it, and `**` crosses folders.
 * Patterns ignore case, because some file systems do.
 */
export interface PathRules {
  /** Only matching paths may be used: all if omitted, none if empty. `!patterns` are not accepted. */
  readonly allow?: readonly string[] | undefined;
  /**
   * Matching paths may not be used, even if `allow` matches too. A later `!pattern` removes files from this list again,
   * unless their folder is listed.
   */
  readonly deny?: readonly string[] | undefined;
}

/** Which files may be read and written. All rules must agree: the most restrictive one wins. */
export interface FilePermissions {
  /**
   * Whether files may be written.
   *
   * @defaultValue `true`
   */
  readonly allowWrite?: boolean | undefined;
  /** What may be read. Reading a file sends its content to the model's provider. */
  readonly read?: PathRules | undefined;
  /** What may be written. A file that may not be read may not be written either. */
  readonly write?: PathRules | undefined;
  /**
   * Whether {@link sensitivePaths} are denied for reading and {@link protectedPaths} for writing, besides your own
   * rules.
   *
   * @defaultValue `true`
   */
  readonly defaults?: boolean | undefined;
}

/** Files that contain secrets by convention. Reading one would send it to a model. */
export const sensitivePaths: readonly string[] = [
  '*.env',
  '.env.*',
  '!.env.example',
  '!.env.sample',
  '!.env.template',
  '!example.env',
  '!sample.env',
  '!template.env',
  '.netrc',
  '.git-credentials',
  '**/.aws/credentials',
  '.ssh',
  'id_rsa',
  'id_dsa',
  'id_ecdsa',
  'id_ed25519',
];

/** Git's own folder: its hooks and settings are programs that run later, outside any sandbox. */
const protectedPaths: readonly string[] = ['.git'];

/** What is wrong with a pattern that could never match: it would deny nothing, silently. */
const patternFaults: readonly (readonly [fault: RegExp, expected: string])[] = [
  [/^(?!!?[^!\s])|\s$/u, 'a non-empty pattern without spaces around it'],
  [/^#/u, 'a pattern that does not start with "#", which is a comment; write "\\#" for a file of that name'],
  [/^!?(?:~|\.\.)(?:\/|$)/u, 'a pattern that is relative to the root and does not lead out of it'],
  [/(?:^|[^\\])(?:\\\\)*\\$/u, 'a pattern that does not end with a lone backslash'],
];

// Git ignores exceptions inside a listed folder; in an allow list they would permit what they are meant to exclude.
const exceptionFault = [/^!/u, 'a pattern without "!"; put exceptions into "deny"'] as const;

const patternCheck = (faults: readonly (readonly [fault: RegExp, expected: string])[]): OptionCheck => {
  const expectedOf = (value: unknown): string | undefined =>
    typeof value === 'string' ? faults.find(([fault]) => fault.test(value))?.[1] : 'a string';
  return {
    expected: 'a pattern as in .gitignore',
    accepts: (value) => expectedOf(value) === undefined,
    faultIn: (value) => {
      const expected = expectedOf(value);
      return expected === undefined ? undefined : { is: 'wrong', path: '', value, expected, isSecret: false };
    },
  };
};

const rules = objectOf({
  allow: arrayOf(patternCheck([exceptionFault, ...patternFaults])),
  deny: arrayOf(patternCheck(patternFaults)),
});

/** The check of {@link FilePermissions}. */
export const filePermissions: OptionCheck = objectOf({
  allowWrite: anyBoolean,
  read: rules,
  write: rules,
  defaults: anyBoolean,
});

/** Why a path may not be used; `reason` completes a sentence that starts with the path. */
export interface Refusal {
  readonly code: 'read-only' | 'not-permitted';
  readonly reason: string;
}

/** Checks a path in a root; `undefined` permits it. */
export type PermissionCheck = (path: string, access: 'read' | 'write', root: string) => Refusal | undefined;

/** Compiles permissions into one check of a canonical path in a root. */
export const permissionCheck = (permissions: FilePermissions): PermissionCheck => {
  const { defaults = true, allowWrite = true } = permissions;
  const read = ruleCheck(permissions.read, defaults ? sensitivePaths : [], 'read');
  const write = ruleCheck(permissions.write, defaults ? protectedPaths : [], 'written');
  return (path, access, root) => {
    const name = relative(root, path).replaceAll(sep, '/');
    if (access === 'read') return read(name);
    return allowWrite ? (read(name) ?? write(name)) : writingIsOff;
  };
};

const writingIsOff: Refusal = {
  code: 'read-only',
  reason: 'may not be written: the permissions disable writing (allowWrite: false).',
};

const ruleCheck = (own: PathRules | undefined, defaults: readonly string[], verb: string) => {
  const refused = [defaults, own?.deny ?? []].filter((list) => list.length > 0).map(matcher);
  const allowed = own?.allow && matcher(own.allow);
  const refusal = (why: string): Refusal => ({
    code: 'not-permitted',
    reason: `may not be ${verb}: the permissions ${why}.`,
  });
  return (name: string): Refusal | undefined => {
    // The root has no name that a pattern could match; its entries are checked one by one.
    if (name === '') return undefined;
    if (refused.some((matches) => matches(name))) return refusal('deny it');
    return allowed && !allowed(name) ? refusal('allow only certain paths') : undefined;
  };
};

const matcher = (patterns: readonly string[]): ((name: string) => boolean) => {
  const anchored = patterns.map(anchor);
  const create = () => ignore({ allowRelativePaths: true }).add(anchored);
  // The library caches every path it has checked; the matcher is replaced before the cache grows without bound.
  let list = create();
  let checked = 0;
  return (name) => {
    checked += 1;
    if (checked % maxCached === 0) list = create();
    return list.ignores(name);
  };
};

const maxCached = 10_000;

/** Rewrites `./x` to `/x`, and `x/**` to `x`: the folder must be entered to use its content. */
const anchor = (pattern: string): string => {
  const [, negation = '', rest = ''] = /^(!?)(?:\.(?=\/))?(.*)$/su.exec(pattern) ?? [];
  const folder = /^(.*[^/*])\/\*\*$/su.exec(rest)?.[1];
  if (folder === undefined) return negation + rest;
  return negation + (folder.includes('/') ? folder : `/${folder}`);
};
