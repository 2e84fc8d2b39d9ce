import { relative, sep } from 'node:path';
import ignore from 'ignore';
import * as z from 'zod';

/**
 * Two lists of path patterns for one kind of access. A list is read like a `.gitignore` file: `*.pem` matches at any depth,
 * `/dist` and `docs/private` count from the root, a folder covers what lies below it, and `**` crosses folders. Case does
 * not matter, because on some file systems it does not.
 */
export interface PathRules {
  /** Only what matches may be used. Everything may, when it is left out; nothing, when it is empty. No `!patterns`. */
  readonly allow?: readonly string[] | undefined;
  /**
   * What matches may not be used, whatever `allow` says. A later `!pattern` takes files out of *this* list again, unless
   * their whole folder is in it.
   */
  readonly deny?: readonly string[] | undefined;
}

/** Which files may be read and written. Every rule has to agree: the most restrictive one wins. */
export interface FilePermissions {
  /**
   * Whether anything may be written at all.
   *
   * @defaultValue `true`
   */
  readonly allowWrite?: boolean | undefined;
  /** Who reads a file shows it to the model's provider. */
  readonly read?: PathRules | undefined;
  /** What may not be read may not be written either. */
  readonly write?: PathRules | undefined;
  /**
   * Whether {@link sensitivePaths} may not be read and {@link protectedPaths} not be written. `false` leaves only your own rules.
   *
   * @defaultValue `true`
   */
  readonly defaults?: boolean | undefined;
}

/** Files that hold secrets by convention: reading one would send it to a model. */
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

/** Git's own folder: its hooks and settings are programs that run later, outside of every sandbox. */
export const protectedPaths: readonly string[] = ['.git'];

/** A pattern that could never match would deny nothing and say nothing: it is refused instead. */
const patternSchema = z
  .string()
  .refine(
    (pattern) => /^!?[^!\s]/u.test(pattern) && !/\s$/u.test(pattern),
    'a pattern is not empty and has no spaces around it',
  )
  .refine(
    (pattern) => !pattern.startsWith('#'),
    'a pattern that begins with "#" is a comment; write "\\#" for a file of that name',
  )
  .refine(
    (pattern) => !/^!?(?:~|\.\.)(?:\/|$)/u.test(pattern),
    'a pattern counts from the root and cannot lead out of it',
  )
  .refine((pattern) => !/(?:^|[^\\])(?:\\\\)*\\$/u.test(pattern), 'a pattern cannot end with a lone backslash');

// In a folder that is listed, git looks at no exceptions: here that would allow what somebody meant to take out.
const allowSchema = patternSchema.refine(
  (pattern) => !pattern.startsWith('!'),
  'an exception belongs into the list "deny"',
);

const rulesSchema = z.strictObject({
  allow: z.array(allowSchema).readonly().optional(),
  deny: z.array(patternSchema).readonly().optional(),
});

export const filePermissionsSchema = z.strictObject({
  allowWrite: z.boolean().default(true),
  read: rulesSchema.optional(),
  write: rulesSchema.optional(),
  defaults: z.boolean().default(true),
}) satisfies z.ZodType<FilePermissions>;

/** Why a path may not be used; `reason` finishes a sentence that begins with the path. */
export interface Refusal {
  readonly code: 'read-only' | 'not-permitted';
  readonly reason: string;
}

/** Judges a path in a root; `undefined` when nothing speaks against it. */
export type PermissionCheck = (path: string, access: 'read' | 'write', root: string) => Refusal | undefined;

/** Turns permissions into one check of a canonical path in a root. */
export const permissionCheck = (permissions: z.output<typeof filePermissionsSchema>): PermissionCheck => {
  const { defaults, allowWrite } = permissions;
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
  reason: 'may not be written: the permissions switch writing off (allowWrite).',
};

const ruleCheck = (rules: PathRules | undefined, defaults: readonly string[], verb: string) => {
  const refused = [defaults, rules?.deny ?? []].filter((list) => list.length > 0).map(matcher);
  const allowed = rules?.allow && matcher(rules.allow);
  const refusal = (why: string): Refusal => ({
    code: 'not-permitted',
    reason: `may not be ${verb}: the permissions ${why}.`,
  });
  return (name: string): Refusal | undefined => {
    // The root itself has no name that a pattern could match; what it holds is judged one by one.
    if (name === '') return undefined;
    if (refused.some((matches) => matches(name))) return refusal('deny it');
    return allowed && !allowed(name) ? refusal('allow only certain paths') : undefined;
  };
};

const matcher = (patterns: readonly string[]): ((name: string) => boolean) => {
  const rules = patterns.map(rooted);
  const create = () => ignore({ allowRelativePaths: true }).add(rules);
  // The library remembers every path that it was asked about; a matcher that lives as long as a workspace starts afresh.
  let list = create();
  let asked = 0;
  return (name) => {
    asked += 1;
    if (asked % maxRemembered === 0) list = create();
    return list.ignores(name);
  };
};

const maxRemembered = 10_000;

/** `./x` is `/x`; and who says `x/**` means the folder itself, too: it has to be entered to use what it holds. */
const rooted = (pattern: string): string => {
  const [, negation = '', rest = ''] = /^(!?)(?:\.(?=\/))?(.*)$/su.exec(pattern) ?? [];
  const folder = /^(.*[^/*])\/\*\*$/su.exec(rest)?.[1];
  if (folder === undefined) return negation + rest;
  return negation + (folder.includes('/') ? folder : `/${folder}`);
};
